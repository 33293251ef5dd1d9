import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  CreateLaunchTemplateCommand,
  DescribeInstancesCommand,
  DescribeLaunchTemplateVersionsCommand,
  DescribeNatGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
  RunInstancesCommand,
  StopInstancesCommand,
} from '@aws-sdk/client-ec2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PlaceRow } from '../../db/schema/fleet.ts'
import { checkDoorOnly } from '../../scripts/doctor/door-only.ts'
import { TCP_PORTS } from '../../src/domain/machine-ports.ts'
import { ec2Cloud } from '../../src/server/fleet/ec2.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { type DeployedAccount, deployAccount, userDataText } from '../../testing/stack/deployed-account.ts'
import { type Access, allowedBy } from '../../testing/stack/iam-policy.ts'
import { cfnLint, moto, startMoto } from '../../testing/stack/moto.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'

const INFRA = resolve(import.meta.dirname, '../../infra')
const ZONE = 'us-east-1a'

test.skipIf(isSkipped(moto))(
  'cfn-lint finds nothing in our templates, and a property that does not exist',
  async () => {
    const folder = temporaryFolder('cfn-lint')
    const wrong = join(folder, 'wrong.yaml')
    writeFileSync(wrong, readFileSync(join(INFRA, 'zone.yaml'), 'utf8').replace('Encrypted:', 'Encryption:'))
    const files = [join(INFRA, 'account.yaml'), join(INFRA, 'zone.yaml'), wrong]
    const said = await promisify(execFile)(cfnLint(), ['--regions', 'us-east-1', '--', ...files]).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    )
    expect(said).toContain("'Encryption' was unexpected")
    expect(said).not.toContain(INFRA)
  },
)

describe.skipIf(isSkipped(moto))('an account made from the templates', () => {
  let server: Awaited<ReturnType<typeof startMoto>>
  let account: DeployedAccount
  const client = (credentials: { accessKeyId: string; secretAccessKey: string }) =>
    new EC2Client({ endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1, credentials })

  beforeAll(async () => {
    server = await startMoto()
    account = await deployAccount(server.endpoint, ['a', 'b'])
  })
  afterAll(() => server?.stop())

  async function newestVersion(LaunchTemplateName = '') {
    const command = new DescribeLaunchTemplateVersionsCommand({ LaunchTemplateName, Versions: ['$Latest'] })
    const data = (await client(account.key).send(command)).LaunchTemplateVersions?.[0]?.LaunchTemplateData
    if (!data) throw new Error(`${LaunchTemplateName} has no version.`)
    return data
  }

  describe('before it enforces permissions', () => {
    test('has a launch template for each zone, with a subnet of that zone', async () => {
      const { a, b } = account.templates
      expect([a, b]).toEqual(['proving-ground-us-east-1a', 'proving-ground-us-east-1b'])
      const [inA, inB] = [await newestVersion(a), await newestVersion(b)]
      const SubnetIds = [inA, inB].map((data) => data.NetworkInterfaces?.[0]?.SubnetId ?? '')
      const { Subnets } = await client(account.key).send(new DescribeSubnetsCommand({ SubnetIds }))
      const zones = Object.fromEntries((Subnets ?? []).map((subnet) => [subnet.SubnetId, subnet.AvailabilityZone]))
      expect(SubnetIds.map((id) => zones[id])).toEqual(['us-east-1a', 'us-east-1b'])
    })

    test('gives machines a public address, an encrypted disk, and no key pair; containers no metadata', async () => {
      const data = await newestVersion(account.templates.a)
      expect(data).toMatchObject({
        NetworkInterfaces: [{ AssociatePublicIpAddress: true, Groups: [account.outputs.ServerSecurityGroup] }],
        MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1, InstanceMetadataTags: 'enabled' },
        BlockDeviceMappings: [{ Ebs: { Throughput: 1000, Iops: 6000, Encrypted: true, DeleteOnTermination: true } }],
        IamInstanceProfile: { Arn: account.outputs.ServerProfile },
        UserData: userDataText('example.com/simulator:1'),
      })
      expect(data.KeyName).toBeUndefined()
    })

    test('opens only the page of a server', async () => {
      const GroupIds = [account.outputs.ServerSecurityGroup ?? '']
      const { SecurityGroups } = await client(account.key).send(new DescribeSecurityGroupsCommand({ GroupIds }))
      expect(SecurityGroups?.[0]?.IpPermissions?.map(({ FromPort, ToPort }) => [FromPort, ToPort])).toEqual([
        [5173, 5173],
      ])
    })

    test.each(['beside', 'only'] as const)(
      'with Door=%s, admits two connectors, which nobody reaches',
      async (door) => {
        const { ServerSecurityGroup = '', Vpc = '' } = await account.deployDoor(door)
        const Filters = [{ Name: 'vpc-id', Values: [Vpc] }]
        const { SecurityGroups } = await client(account.key).send(new DescribeSecurityGroupsCommand({ Filters }))
        const connectors = SecurityGroups?.find(({ Description }) => Description === 'The connectors of the door')
        expect(connectors?.IpPermissions).toEqual([])
        const servers = SecurityGroups?.find(({ GroupId }) => GroupId === ServerSecurityGroup)
        const admitted = (servers?.IpPermissions ?? []).flatMap(({ FromPort, ToPort, IpRanges, UserIdGroupPairs }) =>
          [...(IpRanges ?? []), ...(UserIdGroupPairs ?? [])].map((source) => [
            `${FromPort}-${ToPort}`,
            'GroupId' in source ? source.GroupId : 'everyone',
          ]),
        )
        const ports = ['5173', ...TCP_PORTS].sort().map((port) => [`${port}-${port}`, connectors?.GroupId])
        const settings = {
          AWS_REGION: 'us-east-1',
          AWS_ACCESS_KEY_ID: account.key.accessKeyId,
          AWS_SECRET_ACCESS_KEY: account.key.secretAccessKey,
          EC2_ENDPOINT: server.endpoint,
        }
        const launchTemplate = `door-${door}`
        const LaunchTemplateData = { SecurityGroupIds: [ServerSecurityGroup] }
        await client(account.key).send(
          new CreateLaunchTemplateCommand({ LaunchTemplateName: launchTemplate, LaunchTemplateData }),
        )
        const inUse = { instanceType: 'g6.4xlarge', availabilityZone: ZONE, launchTemplate }
        const [found] = await checkDoorOnly(settings, [inUse as PlaceRow], async () => false)
        expect(found?.state).toBe(door === 'only' ? 'ok' : 'fail')
        expect(admitted.sort()).toEqual([...ports, ...(door === 'beside' ? [['5173-5173', 'everyone']] : [])].sort())

        const { Reservations } = await client(account.key).send(new DescribeInstancesCommand({ Filters }))
        const running = (Reservations ?? []).flatMap(({ Instances }) => Instances ?? [])
        expect(running).toHaveLength(2)
        // moto starts both in the first subnet. AWS balances them over both zones.
        const { Subnets } = await client(account.key).send(new DescribeSubnetsCommand({ Filters }))
        expect(new Set(Subnets?.map(({ AvailabilityZone }) => AvailabilityZone)).size).toBe(2)
        // The Worker's key ends only what has this tag.
        expect(running.flatMap(({ Tags }) => Tags ?? []).filter(({ Key }) => Key === 'app')).toEqual([])
      },
    )

    test('a connector checks its program, and reads only the tunnel’s token', async () => {
      const text = readFileSync(join(INFRA, 'account.yaml'), 'utf8')
      expect(text).toMatch(
        /download\/20\d\d\.\d+\.\d+\/cloudflared-linux-amd64\n\s+echo "[0-9a-f]{64} {2}\$program" \| sha256sum --check/,
      )
      const [script = ''] =
        /#!\/bin\/bash\n\s+set -euo pipefail\n\s+program=[\s\S]*?enable --now cloudflared\.service/.exec(text) ?? []
      await promisify(execFile)('bash', ['-n', '-c', script.replaceAll(/^ {12}/gm, '')])
      expect(text.match(/ssm:\w+/g)).toEqual(['ssm:GetParameter'])
    })

    test('a zone without public addresses sends its machines through a NAT gateway', async () => {
      const [network] = (await newestVersion(await account.deployPrivateZone('d'))).NetworkInterfaces ?? []
      expect(network?.AssociatePublicIpAddress).toBe(false)
      const Filters = [{ Name: 'association.subnet-id', Values: [network?.SubnetId ?? ''] }]
      const { RouteTables } = await client(account.key).send(new DescribeRouteTablesCommand({ Filters }))
      expect(RouteTables?.map(({ RouteTableId }) => RouteTableId)).not.toContain(account.outputs.RouteTable)
      // moto doesn't keep which gateway a route names.
      const { NatGateways } = await client(account.key).send(new DescribeNatGatewaysCommand({}))
      expect(NatGateways).toMatchObject([{ VpcId: account.outputs.Vpc, State: 'available' }])
    })

    test('gives new machines the newest version of a template', async () => {
      await account.updateZone('b', 'example.com/simulator:2')
      const data = await newestVersion(account.templates.b)
      expect(data.UserData).toBe(userDataText('example.com/simulator:2'))
      const instance = await launchIn('b', 'newest')
      expect(instance.tags['aws:ec2launchtemplate:version']).toBe('2')
    })

    test('launches with the zone’s own template where a place names none', async () => {
      const launched = await cloud({}).launch({
        ...{ token: 'unnamed', instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1b', tags: {} },
        launchTemplate: null,
      })
      expect('refused' in launched ? launched.code : launched.state).toBe('pending')
    })
  })

  function cloud(named: { EC2_LAUNCH_TEMPLATE?: string } = { EC2_LAUNCH_TEMPLATE: 'no-such-template' }) {
    return ec2Cloud({
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: account.key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: account.key.secretAccessKey,
      EC2_ENDPOINT: server.endpoint,
      ...named,
    })
  }

  async function launchIn(letter: string, token: string) {
    const launched = await cloud().launch({
      token,
      instanceType: 'g6.4xlarge',
      availabilityZone: `us-east-1${letter}`,
      launchTemplate: account.templates[letter] ?? null,
      tags: { session: token },
    })
    if ('refused' in launched) throw launched.error
    return launched
  }

  // moto can't enforce resources and conditions (the last test here), so we judge the deployed policy ourselves.
  describe('its policy for the Worker', () => {
    const arn = (rest: string) => `arn:aws:ec2:us-east-1:123456789012:${rest}`
    const FROM_TEMPLATE = { 'ec2:LaunchTemplate': arn('launch-template/lt-1') }
    const NAMED = { ...FROM_TEMPLATE, 'ec2:IsLaunchTemplateResource': 'true' }
    const TAGGED = { ...NAMED, 'aws:RequestTag/app': 'proving-ground' }
    const OURS = { 'aws:ResourceTag/app': 'proving-ground' }
    const run = (resource: string, keys: Record<string, string | string[]>): Access => ({
      action: 'ec2:RunInstances',
      resource: resource.startsWith('arn:') ? resource : arn(resource),
      keys,
    })

    const tagging = (tags: string[], keys: Record<string, string> = {}): Access => ({
      action: 'ec2:CreateTags',
      resource: arn('instance/i-1'),
      keys: { ...keys, 'aws:TagKeys': tags },
    })

    test.each<[string, Access]>([
      ['finding instances', { action: 'ec2:DescribeInstances' }],
      ['finding their health', { action: 'ec2:DescribeInstanceStatus' }],
      ['launching from a template of ours', run('launch-template/lt-1', { ...NAMED, ...OURS })],
      ['an instance with our tag', run('instance/*', TAGGED)],
      [
        'an instance with what to run',
        run('instance/*', { ...TAGGED, 'aws:TagKeys': ['app', 'warm', 'environment', 'vehicle', 'image', 'agent'] }),
      ],
      ['the disk', run('volume/*', NAMED)],
      ['the network interface', run('network-interface/*', NAMED)],
      ["the template's subnet", run('subnet/subnet-1', NAMED)],
      ["the template's image", run('arn:aws:ec2:us-east-1::image/ami-1', NAMED)],
      [
        'tagging what it launches',
        { action: 'ec2:CreateTags', resource: arn('instance/i-1'), keys: { 'ec2:CreateAction': 'RunInstances' } },
      ],
      ['tagging an instance of ours with its run', tagging(['session', 'user', 'given'], OURS)],
      [
        'terminating an instance of ours',
        { action: 'ec2:TerminateInstances', resource: arn('instance/i-1'), keys: OURS },
      ],
    ])('allows %s', (_, access) => {
      expect(allowedBy(account.policy, access)).not.toBeNull()
    })

    test('allows passing the role of our servers to EC2, and no other', () => {
      const keys = { 'iam:PassedToService': 'ec2.amazonaws.com' }
      const role = account.policy.find(({ Sid }) => Sid === 'PassTheServersRole')?.Resource as string
      expect(role).toMatch(/^arn:aws:iam::\d+:role\/.*ServerRole/)
      expect(allowedBy(account.policy, { action: 'iam:PassRole', resource: role, keys })).toBe('PassTheServersRole')
      const admin = 'arn:aws:iam::123456789012:role/admin'
      expect(allowedBy(account.policy, { action: 'iam:PassRole', resource: admin, keys })).toBeNull()
      const toLambda = { 'iam:PassedToService': 'lambda.amazonaws.com' }
      expect(allowedBy(account.policy, { action: 'iam:PassRole', resource: role, keys: toLambda })).toBeNull()
    })

    test('allows the security group of our servers, and no other', () => {
      expect(
        allowedBy(account.policy, run(`security-group/${account.outputs.ServerSecurityGroup}`, NAMED)),
      ).not.toBeNull()
      expect(allowedBy(account.policy, run('security-group/sg-other', NAMED))).toBeNull()
    })

    test.each<[string, Access]>([
      ['terminating a foreign instance', { action: 'ec2:TerminateInstances', resource: arn('instance/i-1') }],
      [
        'terminating an instance of another app',
        { action: 'ec2:TerminateInstances', resource: arn('instance/i-1'), keys: { 'aws:ResourceTag/app': 'shop' } },
      ],
      [
        'terminating in another region',
        { action: 'ec2:TerminateInstances', resource: 'arn:aws:ec2:us-west-2:123456789012:instance/i-1', keys: OURS },
      ],
      ['stopping an instance', { action: 'ec2:StopInstances', resource: arn('instance/i-1'), keys: OURS }],
      ["launching from someone else's template", run('launch-template/lt-2', NAMED)],
      ['an instance without our tag', run('instance/*', NAMED)],
      ['an instance with a tag of another kind', run('instance/*', { ...TAGGED, 'aws:TagKeys': ['app', 'owner'] })],
      ['an instance without a template', run('instance/*', { 'aws:RequestTag/app': 'proving-ground' })],
      [
        'another subnet than the template names',
        run('subnet/subnet-2', { ...FROM_TEMPLATE, 'ec2:IsLaunchTemplateResource': 'false' }),
      ],
      ['another image than the template names', run('arn:aws:ec2:us-east-1::image/ami-2', FROM_TEMPLATE)],
      ['a key pair', run('key-pair/mine', NAMED)],
      [
        'tagging a foreign instance in order to terminate it',
        { action: 'ec2:CreateTags', resource: arn('instance/i-1') },
      ],
      ['making a foreign instance ours', tagging(['app'])],
      ['changing our tag', tagging(['session', 'app'], OURS)],
      ['tagging an instance of another app', tagging(['session'], { 'aws:ResourceTag/app': 'shop' })],
      [
        'changing a template',
        { action: 'ec2:CreateLaunchTemplateVersion', resource: arn('launch-template/lt-1'), keys: OURS },
      ],
      [
        'making keys',
        { action: 'iam:CreateAccessKey', resource: 'arn:aws:iam::123456789012:user/proving-ground-worker-us-east-1' },
      ],
    ])('refuses %s', (_, access) => {
      expect(allowedBy(account.policy, access)).toBeNull()
    })
  })

  describe('once it enforces permissions', () => {
    beforeAll(() => account.enforce())

    test('allows everything the Worker does', async () => {
      const { id } = await launchIn('a', 'enforced')
      expect((await cloud().findInstance(id))?.tags['aws:ec2launchtemplate:id']).toMatch(/^lt-/)
      expect((await cloud().findByToken('enforced'))?.id).toBe(id)
      expect((await cloud().listInstances()).map((instance) => instance.id)).toContain(id)
      await cloud().tag(id, { session: 'ses_1', given: '2026-11-28T09:00:00.000Z' })
      expect((await cloud().findInstance(id))?.tags).toMatchObject({ app: 'proving-ground', session: 'ses_1' })
      expect(await cloud().templateVersion(ZONE, account.templates.a)).toBe('1')
      await cloud().terminate(id)
    })

    test('refuses other calls, and other keys', async () => {
      const { id } = await launchIn('a', 'refused')
      const stop = new StopInstancesCommand({ InstanceIds: [id] })
      await expect(client(account.key).send(stop)).rejects.toMatchObject({ name: 'AccessDenied' })
      const stranger = client({ accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' })
      await expect(stranger.send(stop)).rejects.toMatchObject({ name: 'AuthFailure' })
      const forged = client({ ...account.key, secretAccessKey: 'guessed' })
      await expect(forged.send(stop)).rejects.toMatchObject({ name: 'AuthFailure' })
    })

    test.fails('refuses an instance without our tag (deviates: moto does not know EC2’s conditions)', async () => {
      const LaunchTemplate = { LaunchTemplateName: account.templates.a ?? '' }
      const untagged = new RunInstancesCommand({
        LaunchTemplate,
        MinCount: 1,
        MaxCount: 1,
        Placement: { AvailabilityZone: ZONE },
      })
      await expect(client(account.key).send(untagged)).rejects.toMatchObject({ name: 'UnauthorizedOperation' })
    })
  })
})
