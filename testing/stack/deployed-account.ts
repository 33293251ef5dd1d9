import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  CloudFormationClient,
  CreateStackCommand,
  DescribeStacksCommand,
  type Stack,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation'
import { DeleteSubnetCommand, DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2'
import { CreateAccessKeyCommand, GetUserPolicyCommand, IAMClient, PutUserPolicyCommand } from '@aws-sdk/client-iam'
import { userData } from '../../infra/image/user-data.ts'
import type { Statement } from './iam-policy.ts'

const INFRA = resolve(import.meta.dirname, '../../infra')
const REGION = 'us-east-1'
const SITE = 'https://proving-ground.example'
/** An image that moto knows. It doesn't know the default, which it looks up even though we override it. */
const MOTO_IMAGE = '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64'

export type DeployedAccount = {
  /** The Worker's own key. */
  key: { accessKeyId: string; secretAccessKey: string }
  policy: Statement[]
  /** By zone letter. */
  templates: Record<string, string>
  outputs: Record<string, string>
  /** Gives a zone's machines a new container, as an operator would. */
  updateZone(letter: string, containerImage: string): Promise<void>
  /** Deploys a zone whose machines have no public address. @returns its launch template */
  deployPrivateZone(letter: string): Promise<string>
  /** Deploys another account's stack, with a door: moto doesn't look at conditions again in an update. */
  deployDoor(door: 'beside' | 'only'): Promise<Record<string, string>>
  /** Deletes a zone's subnet by hand. Allows everything until `enforce`. */
  loseSubnet(letter: string): Promise<void>
  /** From now on moto refuses what the policy doesn't allow, and the actions in `revoked`. */
  enforce(revoked?: string[]): Promise<void>
}

/** As an instance gets it. */
export const userDataText = (containerImage: string): string => Object.values(userData(containerImage, SITE)).join('')

/** Deploys the templates in infra/ to an empty account in moto, and creates the Worker's key, as in docs/operations.md. */
export async function deployAccount(endpoint: string, letters: string[], site = SITE): Promise<DeployedAccount> {
  const config = { endpoint, region: REGION, credentials: { accessKeyId: 'root', secretAccessKey: 'root' } }
  const cloudFormation = new CloudFormationClient(config)
  const iam = new IAMClient(config)

  const authorizeAfter = (calls: string) => fetch(`${endpoint}/moto-api/reset-auth`, { method: 'POST', body: calls })
  async function outputsOf(StackName: string): Promise<Record<string, string>> {
    const { Stacks } = await cloudFormation.send(new DescribeStacksCommand({ StackName }))
    const stack = Stacks?.[0] as Stack
    if (!/^(CREATE|UPDATE)_COMPLETE$/.test(stack.StackStatus ?? ''))
      throw new Error(`${StackName}: ${stack.StackStatus}`)
    return Object.fromEntries((stack.Outputs ?? []).map((output) => [output.OutputKey ?? '', output.OutputValue ?? '']))
  }
  const stackOf = (StackName: string, file: string, parameters: Record<string, string>) => ({
    StackName,
    TemplateBody: readFileSync(resolve(INFRA, file), 'utf8').replaceAll(/^ +Default: \/aws\/service\/.*\n/gm, ''),
    Parameters: Object.entries(parameters).map(([ParameterKey, ParameterValue]) => ({ ParameterKey, ParameterValue })),
  })
  const zoneOf = (letter: string, containerImage: string, PublicAddress = 'true') =>
    stackOf(`proving-ground-${letter}`, 'zone.yaml', {
      ZoneLetter: letter,
      ...userData(containerImage, site),
      ImageId: MOTO_IMAGE,
      PublicAddress,
    })

  const accountWith = (Door: string, name = 'proving-ground') => ({
    ...stackOf(name, 'account.yaml', {
      OperatorEmail: 'operator@example.com',
      ConnectorImageId: MOTO_IMAGE,
      Door,
    }),
    Capabilities: ['CAPABILITY_NAMED_IAM' as const],
  })
  await cloudFormation.send(new CreateStackCommand(accountWith('off')))
  const outputs = await outputsOf('proving-ground')
  const templates: Record<string, string> = {}
  for (const letter of letters) {
    await cloudFormation.send(new CreateStackCommand(zoneOf(letter, 'example.com/simulator:1')))
    templates[letter] = (await outputsOf(`proving-ground-${letter}`)).LaunchTemplate ?? ''
  }

  const UserName = outputs.WorkerUser ?? ''
  const { AccessKey } = await iam.send(new CreateAccessKeyCommand({ UserName }))
  const { PolicyDocument } = await iam.send(new GetUserPolicyCommand({ UserName, PolicyName: 'worker' }))
  const policy = JSON.parse(decodeURIComponent(PolicyDocument ?? '')).Statement as Statement[]

  return {
    key: { accessKeyId: AccessKey?.AccessKeyId ?? '', secretAccessKey: AccessKey?.SecretAccessKey ?? '' },
    policy,
    templates,
    outputs,
    async updateZone(letter, containerImage) {
      await cloudFormation.send(new UpdateStackCommand(zoneOf(letter, containerImage)))
    },
    async deployPrivateZone(letter) {
      await cloudFormation.send(new CreateStackCommand(zoneOf(letter, 'example.com/simulator:1', 'false')))
      return (await outputsOf(`proving-ground-${letter}`)).LaunchTemplate ?? ''
    },
    async deployDoor(door) {
      await cloudFormation.send(new CreateStackCommand(accountWith(door, `door-${door}`)))
      return outputsOf(`door-${door}`)
    },
    async loseSubnet(letter) {
      await authorizeAfter('inf')
      const ec2 = new EC2Client(config)
      const Filters = [
        { Name: 'vpc-id', Values: [outputs.Vpc ?? ''] },
        { Name: 'availability-zone', Values: [`${REGION}${letter}`] },
      ]
      const { Subnets } = await ec2.send(new DescribeSubnetsCommand({ Filters }))
      for (const { SubnetId } of Subnets ?? []) await ec2.send(new DeleteSubnetCommand({ SubnetId }))
      ec2.destroy()
    },
    async enforce(revoked = []) {
      // moto 5.2.5 enforces actions. It doesn't know EC2's resources and conditions: with them, it refuses everything.
      const Statement = policy.map(({ Action, Effect }) => {
        const allowed = [Action].flat().filter((action) => !revoked.includes(action))
        return { Effect, Action: allowed.length ? allowed : ['none:None'], Resource: '*' }
      })
      const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement })
      await authorizeAfter('inf')
      await iam.send(new PutUserPolicyCommand({ UserName, PolicyName: 'worker', PolicyDocument }))
      await authorizeAfter('0')
    },
  }
}
