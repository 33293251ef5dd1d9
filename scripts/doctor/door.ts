import { READY_LABEL } from '../../src/domain/door.ts'
import type { Settings } from '../environment.ts'
import { words } from '../failure.ts'
import { type Finding, fail, ok, skip } from './check.ts'

/** Asks the Worker itself: the binding exists only there. */
export async function checkDoor({ DOOR_DOMAIN: domain }: Settings, ask: typeof fetch = fetch): Promise<Finding[]> {
  const url = `https://${READY_LABEL}.${domain}/`
  const setUp = 'docs/operations.md, "The door", says how to set it up.'
  try {
    const answer = await ask(url, { redirect: 'manual', signal: AbortSignal.timeout(15_000) })
    const { network } = (await answer.json()) as { network?: string | null }
    if (network === null)
      return [skip('door', 'No server with a door is running to ask. Start one and run doctor again.')]
    if (network === 'reachable') return [ok('door', 'the binding FLEET leads to the servers')]
    if (network !== 'unreachable') return [fail('door', `${url} isn't answered by this Worker. ${setUp}`)]
    const what = 'No server answers through the binding FLEET.'
    return [fail('door', `${what} Check the tunnel in Cloudflare's dashboard, its connectors, and the security group.`)]
  } catch (error) {
    return [fail('door', `${url} doesn't answer (${words(error)}). ${setUp}`)]
  }
}
