import type { PostWebhook, WebhookAnswer } from '../../src/server/ports/webhooks.ts'
import type { Random } from '../../testing/random.ts'
import type { World } from './world.ts'

const MODES = ['up', 'up', 'up', 'failing', 'silent', 'flaky', 'gone'] as const
type Mode = (typeof MODES)[number]
/** As long as we wait for an answer. */
const TIMEOUT_MS = 10_000

/** What arrived at people's endpoints, and what these answered. */
export class Receivers {
  readonly posts: { url: string; id: string; body: string; at: number; taken: boolean; isSilent: boolean }[] = []
  #world: World
  #modes = new Map<string, Mode>()

  constructor(world: World) {
    this.#world = world
  }

  /** From now on, the endpoint works, or fails in one of several ways. */
  change(url: string, random: Random): void {
    this.#modes.set(url, random.pick(MODES))
  }

  post: PostWebhook = async (url, headers, body) => {
    const answer = this.#answer(this.#modes.get(url) ?? 'up')
    const { clock } = this.#world
    this.posts.push({
      url,
      id: headers['webhook-id'] ?? '',
      body,
      at: clock.ms,
      taken: answer.taken,
      isSilent: answer.status === null,
    })
    this.#world.note(answer.taken ? 'event delivered' : `event refused: ${answer.status}`)
    return answer
  }

  /** How long silent endpoints held up the world between two moments. They hold up nobody else's servers: only our one clock. */
  silence(from: number, until: number): number {
    return this.posts.filter(({ isSilent, at }) => isSilent && at > from && at <= until).length * TIMEOUT_MS
  }

  #answer(mode: Mode): WebhookAnswer {
    const { clock, luck } = this.#world
    if (mode === 'up' || (mode === 'flaky' && luck.chance(0.5))) return { taken: true, status: 200, text: 'ok' }
    if (mode === 'gone') return { taken: false, status: 410, text: '' }
    if (mode !== 'silent') return { taken: false, status: 500, text: 'no' }
    clock.ms += TIMEOUT_MS
    return { taken: false, status: null, text: 'No answer within 10 seconds.' }
  }
}
