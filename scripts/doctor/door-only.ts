import { connect } from 'node:net'
import {
  DescribeInstancesCommand,
  DescribeSecurityGroupsCommand,
  EC2Client,
  type IpPermission,
} from '@aws-sdk/client-ec2'
import type { PlaceRow } from '../../db/schema/fleet.ts'
import { SERVER_WEB_PORT } from '../../src/domain/server.ts'
import { OWNER_TAG } from '../../src/server/fleet/ec2.ts'
import type { Settings } from '../environment.ts'
import { words } from '../failure.ts'
import { clientOf, kindsOf, templateData } from './aws.ts'
import { type Finding, fail, ok, skip } from './check.ts'

const KNOCK_MS = 5_000
const MOST_KNOCKS = 3
const REMEDY = 'Deploy infra/account.yaml with Door=only, or set DOOR_ONLY=false: machines then get no files.'

/** Proves DOOR_ONLY: by the rules of all our security groups, and by a running machine. */
export async function checkDoorOnly(settings: Settings, inUse: PlaceRow[], knock = isOpen): Promise<Finding[]> {
  const ec2 = new EC2Client(clientOf(settings))
  try {
    return [await checkRules(ec2, settings, inUse), await checkMachines(ec2, knock)]
  } catch (error) {
    return [fail('door only', `It can't be proven (${words(error)}). Deploy infra/account.yaml for its permissions.`)]
  } finally {
    ec2.destroy()
  }
}

async function checkRules(ec2: EC2Client, settings: Settings, inUse: PlaceRow[]): Promise<Finding> {
  const templates = new Set(kindsOf(inUse, settings).map(({ template }) => template))
  const groups = new Set<string>()
  for (const template of templates) {
    const data = await templateData(ec2, template)
    for (const id of data?.NetworkInterfaces?.flatMap(({ Groups }) => Groups ?? []) ?? []) groups.add(id)
    for (const id of data?.SecurityGroupIds ?? []) groups.add(id)
  }
  if (!groups.size) return skip('door only', 'There are no places with a security group yet.')
  const { SecurityGroups } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [...groups] }))
  const open = SecurityGroups?.find(({ IpPermissions }) => IpPermissions?.some(admitsAddresses))
  if (open) return fail('door only', `The security group ${open.GroupId} admits more than the connectors. ${REMEDY}`)
  return ok('door only', 'the security groups of servers admit only the connectors')
}

/** A rule that names addresses, not another security group. */
const admitsAddresses = ({ IpRanges, Ipv6Ranges, PrefixListIds }: IpPermission): boolean =>
  [IpRanges, Ipv6Ranges, PrefixListIds].some((list) => (list?.length ?? 0) > 0)

async function checkMachines(ec2: EC2Client, knock: typeof isOpen): Promise<Finding> {
  const Filters = [
    { Name: `tag:${OWNER_TAG.key}`, Values: [OWNER_TAG.value] },
    { Name: 'instance-state-name', Values: ['running'] },
  ]
  const { Reservations = [] } = await ec2.send(new DescribeInstancesCommand({ Filters }))
  const all = Reservations.flatMap(({ Instances }) => Instances ?? [])
  if (!all.length) return skip('public page', 'No server is running to try it on. Start one and run doctor again.')
  const addresses = all.flatMap(({ PublicIpAddress }) => PublicIpAddress ?? []).slice(0, MOST_KNOCKS)
  for (const address of addresses)
    if (await knock(address, SERVER_WEB_PORT))
      return fail('public page', `${address}:${SERVER_WEB_PORT} answers everyone on the internet. ${REMEDY}`)
  return ok('public page', `port ${SERVER_WEB_PORT} of running servers refuses`)
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(KNOCK_MS, () => settle(false))
    socket.on('connect', () => settle(true)).on('error', () => settle(false))
  })
}
