import { route } from '../../http/route.ts'

/** Loaded when needed: every isolate would evaluate it at startup. */
const calls = () => import('./machine-calls.ts')

const OF_MACHINES = { access: 'public', fromPrograms: true, countsCaller: true } as const

/** What our machines call: see infra/image. Nobody else does, so the API's document has none of it. */
export const machines = [
  route('POST /machines/credentials', OF_MACHINES).answer(async (c) => (await calls()).giveCredentials(c)),
  route('POST /machines/key', OF_MACHINES).answer(async (c) => (await calls()).giveKey(c)),
  route('POST /machines/files', OF_MACHINES).answer(async (c) => (await calls()).hearOfFiles(c)),
  route('POST /machines/work', OF_MACHINES).answer(async (c) => (await calls()).giveWorkTo(c)),
]
