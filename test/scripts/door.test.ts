import { expect, test } from 'vitest'
import type { PlaceRow } from '../../db/schema/fleet.ts'
import { checkDoor } from '../../scripts/doctor/door.ts'
import { checkDoorOnly } from '../../scripts/doctor/door-only.ts'
import { serve } from '../../testing/stack/serve.ts'

const found = async (answer: () => Promise<Response>) => {
  const asked: string[] = []
  const ask = ((url: string) => {
    asked.push(url)
    return answer()
  }) as typeof fetch
  const [finding] = await checkDoor({ DOOR_DOMAIN: 'door.example' }, ask)
  expect(asked).toEqual(['https://ready.door.example/'])
  return `${finding?.state}: ${finding?.says}`
}

test('names a binding that leads nowhere, a domain that leads elsewhere, and no answer', async () => {
  const said = (network: string | null) => found(async () => Response.json({ network }))
  expect(await said('reachable')).toBe('ok: the binding FLEET leads to the servers')
  expect(await said(null)).toMatch(/^skip: No server with a door is running/)
  expect(await said('unreachable')).toMatch(/^fail: No server answers through the binding FLEET\. Check the tunnel/)
  expect(await found(async () => Response.json({}))).toMatch(/^fail: .* isn't answered by this Worker/)
  expect(await found(async () => new Response('<html>'))).toMatch(/^fail: .* doesn't answer \(SyntaxError/)
  expect(await found(() => Promise.reject(new Error('getaddrinfo ENOTFOUND')))).toMatch(/^fail: .*ENOTFOUND/)
})

const CONNECTORS = '<groups><item><groupId>sg-connectors</groupId></item></groups>'
const EVERYONE = '<ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges>'
const EVERYONE_V6 = '<ipv6Ranges><item><cidrIpv6>::/0</cidrIpv6></item></ipv6Ranges>'
const A_LIST = '<prefixListIds><item><prefixListId>pl-1</prefixListId></item></prefixListIds>'

/** An account whose servers' security group has these rules, and whose servers have these public addresses. */
async function openAccount(rules: string[], addresses: string[]) {
  const answers: Record<string, string> = {
    DescribeLaunchTemplateVersions: `<launchTemplateVersionSet><item><launchTemplateData><networkInterfaceSet><item>
      <groupSet><groupId>sg-servers</groupId></groupSet></item></networkInterfaceSet></launchTemplateData></item></launchTemplateVersionSet>`,
    DescribeSecurityGroups: `<securityGroupInfo><item><groupId>sg-servers</groupId><ipPermissions>${rules
      .map((rule) => `<item><ipProtocol>tcp</ipProtocol><fromPort>5173</fromPort><toPort>5173</toPort>${rule}</item>`)
      .join('')}</ipPermissions></item></securityGroupInfo>`,
    DescribeInstances: `<reservationSet>${addresses
      .map((ip) => `<item><instancesSet><item><ipAddress>${ip}</ipAddress></item></instancesSet></item>`)
      .join('')}</reservationSet>`,
  }
  const endpoint = await serve(async (request, response) => {
    const action = new URLSearchParams(String(Buffer.concat(await request.toArray()))).get('Action') ?? ''
    response.writeHead(200, { 'content-type': 'text/xml' })
    response.end(`<${action}Response>${answers[action]}</${action}Response>`)
  })
  const settings = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    EC2_ENDPOINT: endpoint,
  }
  const place = { instanceType: 'g6.4xlarge', availabilityZone: 'us-east-1a', launchTemplate: 'lt' } as PlaceRow
  return async (isOpen: boolean) => {
    const findings = await checkDoorOnly(settings, [place], async () => isOpen)
    return findings.map(({ state }) => state)
  }
}

test('proves that nobody reaches a machine but through the door, by the rules and by a machine', async () => {
  const closed = await openAccount([CONNECTORS], ['198.51.100.7'])
  expect(await closed(false)).toEqual(['ok', 'ok'])
  expect(await closed(true)).toEqual(['ok', 'fail'])
  for (const rule of [EVERYONE, EVERYONE_V6, A_LIST, EVERYONE.replace('0.0.0.0/0', '203.0.113.0/24')])
    expect(await (await openAccount([CONNECTORS, rule], []))(false)).toEqual(['fail', 'skip'])
})
