import { deleteFiles } from '../../../src/server/files/delete.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { requestUpload } from '../../../src/server/files/upload.ts'
import type { Random } from '../../../testing/random.ts'
import type { Person } from '../people.ts'
import type { World } from '../world.ts'

export const PATHS = ['flight.csv', 'runs/1.csv', 'runs/2.csv', 'runs/night/رحلة.csv', 'maps/harbor.png'] as const
const PLACES = [...PATHS, 'runs/', 'runs/night/', 'maps/', 'runs'] as const
const MB = 1_000_000

/** Everything written has a size of its own, so that the size says what it is. */
export const newSize = (world: World, megabytes: number) => megabytes * MB + (world.reached.get('content') ?? 0)

export async function upload(world: World, person: Person, path: string, megabytes: number): Promise<void> {
  world.note('content')
  const { user } = person
  const size = newSize(world, megabytes)
  const { url } = await requestUpload(world.ctx, user.id, { path, size })
  await world.program.call('browser: put', async () => {
    if (world.files?.memory.putByLink(url)) world.files.kept.wrote(user.id, path, size)
  })
  world.note('file uploaded')
}

/** One thing that someone does on the page of files. */
export async function change(world: World, random: Random, person: Person) {
  const { ctx, files } = world
  const { user } = person
  const what = random.pick(['upload', 'upload', 'upload', 'delete', 'delete', 'list'])
  const own = [...(files?.inBucket(user.id).keys() ?? [])]
  const found = random.pick([...own, ...own.flatMap(foldersOf)])
  const path = (random.chance(0.7) ? found : undefined) ?? random.pick(PLACES)
  const run = async (): Promise<unknown> => {
    if (what === 'upload') return upload(world, person, random.pick(PATHS), random.between(1, 90))
    if (what === 'list') return listFiles(ctx, user.id, { path: '', after: null })
    await files?.kept.deletes(user.id, path, () => deleteFiles(ctx, user.id, { path }))
    return world.note(path.endsWith('/') ? 'folder deleted' : 'file deleted')
  }
  return { name: `${user.name} ${what} ${path}`, run }
}

/** `a/` and `a/b/` of `a/b/c`. */
const foldersOf = (path: string) =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, i, names) => `${names.slice(0, i + 1).join('/')}/`)
