import { places } from '../db/schema/fleet.ts'
import { userData } from '../infra/image/user-data.ts'
import { addPlaces } from '../src/server/fleet/places.ts'
import { ENV, openSettings, readArguments, runCommand } from './arguments.ts'
import { aws } from './aws.ts'
import { firstOrigin, readSecrets, type Settings, settingsOf, writeSecrets } from './environment.ts'
import { gpusIn } from './instance-type.ts'
import { requestQuota } from './request-quota.ts'
import { deployStack, parametersOf } from './stacks.ts'

const USAGE = `Usage:
  npm run zone -- --env <staging|production> --zone <availability zone> --image <container image>
    [--type <instance type>] [--places <n>] [--machine-image <ami-…>]
  Deploys infra/zone.yaml, and before the first zone infra/account.yaml with the Worker's access key. Then it adds what is
  missing to n places of the type, g6.4xlarge by default. Safe to repeat; with another image, servers that start from then
  on run that one.`
const ACCOUNT = 'proving-ground'

await runCommand(run)

async function run(): Promise<string> {
  const text = { type: 'string' } as const
  const { values } = readArguments(USAGE, {
    options: { ...ENV, zone: text, image: text, type: text, places: text, 'machine-image': text },
  })
  const { env, zone, image, type = 'g6.4xlarge', 'machine-image': pinned = '' } = values
  if (!env || !zone || !image) throw new Error(USAGE)
  const settings = settingsOf(env)
  const { AWS_REGION: region = '' } = settings
  const letter = zone.startsWith(region) ? zone.slice(region.length) : ''
  if (!/^[a-f]$/.test(letter))
    throw new Error(`${zone} is no zone from ${region}a to ${region}f: AWS_REGION is ${region}.`)
  const count = Number(values.places ?? 1)
  if (!Number.isInteger(count) || count < 0) throw new Error('--places must be a whole number.')
  if (!/^(ami-[0-9a-f]+)?$/.test(pinned))
    throw new Error('--machine-image must be an ID, such as ami-0123456789abcdef0.')
  // Before anything is created or replaced.
  const parameters = userData(image, firstOrigin(settings))
  askOfferings(region, type, zone)
  requestQuota(region, type, count)
  ensureAccount(env, settings)
  const name = `${ACCOUNT}-${zone}`
  const before = parametersOf(region, name)
  const machineBefore = before && machineImageOf(region, name)
  deployStack(region, name, 'infra/zone.yaml', {
    ZoneLetter: letter,
    ...parameters,
    Simulator: image,
    PinnedImageId: pinned,
  })
  const added = await ensurePlaces(settingsOf(env), type, zone, count)
  return [
    `Servers that start in ${zone} from now on run ${image} on the machine image ${machineImageOf(region, name)}.`,
    ...(added.length ? [`Added ${added.join(', ')}.`] : []),
    ...(before?.Simulator
      ? [
          `To go back: npm run zone -- --env ${env} --zone ${zone} --image ${before.Simulator} --machine-image ${machineBefore}`,
        ]
      : []),
  ].join('\n')
}

/** The stack and its launch template share a name. */
function machineImageOf(region: string, name: string): string {
  const versions = ['--launch-template-name', name, '--versions', '$Latest']
  const query = ['--query', 'LaunchTemplateVersions[0].LaunchTemplateData.ImageId', '--output', 'text']
  return aws(region, 'ec2', 'describe-launch-template-versions', ...versions, ...query)
}

/** A subnet belongs to its zone forever, so ask before creating it. */
function askOfferings(region: string, type: string, zone: string): void {
  const filter = ['--location-type', 'availability-zone', '--filters', `Name=instance-type,Values=${type}`]
  const query = ['--query', 'InstanceTypeOfferings[].Location', '--output', 'text']
  const zones = aws(region, 'ec2', 'describe-instance-type-offerings', ...filter, ...query)
    .split(/\s+/)
    .sort()
  if (zones.includes(zone)) return
  const others = zones.filter(Boolean).join(', ')
  throw new Error(
    `${zone} doesn't offer ${type}. ${others ? `These do: ${others}.` : `No zone of ${region} does.`} We made nothing.`,
  )
}

/** The network, the Worker's user with its key, and the account that machines must prove to be in. */
function ensureAccount(env: string, settings: Settings): void {
  const { AWS_REGION: region = '', OPERATOR_EMAIL = '' } = settings
  const secrets = readSecrets(env)
  if (!secrets)
    throw new Error(`Run "npm run setup -- --env ${env}" first: the access key goes into its file of secrets.`)
  if (!parametersOf(region, ACCOUNT))
    deployStack(region, ACCOUNT, 'infra/account.yaml', { OperatorEmail: OPERATOR_EMAIL })
  const account = settings.AWS_ACCOUNT_ID ? {} : { AWS_ACCOUNT_ID: accountId(region) }
  const key = secrets.AWS_ACCESS_KEY_ID ? {} : newAccessKey(region)
  const fresh = { ...account, ...key }
  if (Object.keys(fresh).length) writeSecrets(env, { ...secrets, ...fresh })
}

function accountId(region: string): string {
  return aws(region, 'sts', 'get-caller-identity', '--query', 'Account', '--output', 'text')
}

function newAccessKey(region: string): Settings {
  const user = `${ACCOUNT}-worker-${region}`
  const { AccessKey } = JSON.parse(aws(region, 'iam', 'create-access-key', '--user-name', user, '--output', 'json'))
  return { AWS_ACCESS_KEY_ID: AccessKey.AccessKeyId, AWS_SECRET_ACCESS_KEY: AccessKey.SecretAccessKey }
}

async function ensurePlaces(settings: Settings, type: string, zone: string, count: number): Promise<string[]> {
  if (count === 0) return []
  const db = openSettings(USAGE, settings)
  const rows = await db.db.select().from(places)
  const has = rows.filter((row) => row.instanceType === type && row.availabilityZone === zone && row.retiredAt === null)
  if (has.length >= count) return []
  const gpus = await gpusIn(settings, type, zone)
  const hand = { ...db, by: { id: 'script', reason: '' } }
  return addPlaces(hand, { instanceType: type, availabilityZone: zone, gpus, count: count - has.length })
}
