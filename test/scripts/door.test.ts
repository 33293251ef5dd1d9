import { expect, test } from 'vitest'
import { checkDoor } from '../../scripts/doctor/door.ts'

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
