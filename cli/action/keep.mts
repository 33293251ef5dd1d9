import { openAsBlob } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { call, input, insist, Unanswered } from './site.mts'

const AT_ONCE = 4
const MOST_BYTES = 5_000_000_000

type Upload = { url: string; method: string; headers: Record<string, string> }

/** Uploads the folder of the input `keep` to the account's files. */
export async function keepFolder(): Promise<void> {
  if (!input('keep')) return
  const folder = resolve(process.env.GITHUB_WORKSPACE ?? '.', input('keep'))
  const { GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_JOB } = process.env
  const to = ['ci', GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_JOB, basename(folder)].filter(Boolean).join('/')
  const names = await filesIn(folder).catch(() => null)
  // A step that failed may not have made it.
  if (!names) return console.log(`::warning::There is no folder ${input('keep')} to keep.`)
  const left = names.values()
  const lane = async () => {
    for (const name of left) await upload(join(folder, name), `${to}/${name}`)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
  console.log(`Kept ${names.length} ${names.length === 1 ? 'file' : 'files'} in your files: ${to}`)
}

/** Its files, also in folders below it. Links stay here. */
async function filesIn(folder: string, below = ''): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const name = below ? `${below}/${entry.name}` : entry.name
    if (entry.isDirectory()) found.push(...(await filesIn(folder, name)))
    else if (entry.isFile()) found.push(name)
  }
  return found
}

async function upload(file: string, path: string): Promise<void> {
  const content = await openAsBlob(file)
  if (content.size > MOST_BYTES)
    throw new Error(`${path} has more than 5 GB. Upload it with "proving-ground files put".`)
  await insist(async () => {
    const { upload } = await call<{ upload: Upload }>('/api/v1/files', undefined, { path, size: content.size })
    const { url, method, headers } = upload
    const answer = await fetch(url, { method, headers, body: content }).catch(() => null)
    if (!answer?.ok) throw new Unanswered(`${path} didn't reach your files.`)
  })
}
