import type { Context as HonoContext } from 'hono'
import { AppError } from '../../../domain/error.ts'
import { inText, toFolder } from '../../../domain/file-names.ts'
import { giveCredentials } from '../../files/credentials.ts'
import { deleteFiles, sizeUpFolder } from '../../files/delete.ts'
import { linkToFile } from '../../files/download.ts'
import { listFiles } from '../../files/list-files.ts'
import { abortParts, beginParts, completeParts, listUnfinished, signParts } from '../../files/parts.ts'
import { requestUpload } from '../../files/upload.ts'
import { uploadThrough } from '../../files/upload-through.ts'
import { requirePerson } from '../../http/access.ts'
import { type AppEnv, signedIn } from '../../http/app-env.ts'
import { answer } from '../../http/reply.ts'
import type { CredentialsMode } from '../../ports/bucket.ts'

type Call = HonoContext<AppEnv>

const pathOf = (c: Call) => c.req.query('path') ?? ''
const userOf = (c: Call) => signedIn(c).user.id
const idOf = (c: Call) => c.req.param('id') ?? ''

export async function list(c: Call): Promise<Response> {
  return c.json(await listFiles(c.var.ctx, userOf(c), { path: pathOf(c), after: c.req.query('after') ?? null }))
}

export async function link(c: Call): Promise<Response> {
  requirePerson(c, c.req.query('person'), '/files')
  return c.redirect(await linkToFile(c.var.ctx, userOf(c), pathOf(c)), 302)
}

export async function size(c: Call): Promise<Response> {
  return c.json(await sizeUpFolder(c.var.ctx, userOf(c), pathOf(c)))
}

export async function remove(c: Call): Promise<Response> {
  const only = c.req.query('only')
  if (only !== undefined && only !== 'file') throw new AppError('invalid', 'only can only be "file".')
  const wanted = { path: pathOf(c), onlyFile: only === 'file' }
  const { path, filesLeft } = await deleteFiles(c.var.ctx, userOf(c), wanted)
  const message = filesLeft ? `Deleting ${inText(path)}. This can take a few minutes.` : `Deleted ${inText(path)}.`
  return answer(c, { message, path, files_left: filesLeft }, { status: filesLeft ? 202 : 200 })
}

export async function upload(c: Call, wanted: Parameters<typeof requestUpload>[2]): Promise<Response> {
  return c.json({ upload: await requestUpload(c.var.ctx, userOf(c), wanted) }, 201)
}

/** The form of a browser without script. */
export async function uploadForm(c: Call): Promise<Response> {
  const file = c.get('file')
  if (!file?.name) throw new AppError('invalid', 'Choose a file first.')
  const content = await file.arrayBuffer()
  const { path } = await uploadThrough(c.var.ctx, userOf(c), { path: toFolder(pathOf(c)) + file.name, content })
  return answer(c, { message: `Uploaded ${inText(path)}.`, path }, { status: 201 })
}

export async function credentials(c: Call, mode: CredentialsMode): Promise<Response> {
  return c.json({ credentials: await giveCredentials(c.var.ctx, userOf(c), mode) }, 201)
}

export async function uploads(c: Call): Promise<Response> {
  return c.json({ uploads: await listUnfinished(c.var.ctx, userOf(c)) })
}

export async function begin(c: Call, wanted: Parameters<typeof beginParts>[2]): Promise<Response> {
  return c.json({ upload: await beginParts(c.var.ctx, userOf(c), wanted) })
}

export async function parts(c: Call, wanted: number[]): Promise<Response> {
  return c.json(await signParts(c.var.ctx, userOf(c), idOf(c), wanted))
}

export async function complete(c: Call): Promise<Response> {
  const file = await completeParts(c.var.ctx, userOf(c), idOf(c))
  return c.json({ message: `Uploaded ${inText(file.path)}.`, file })
}

export async function discard(c: Call): Promise<Response> {
  const { path } = await abortParts(c.var.ctx, userOf(c), idOf(c))
  return answer(c, { message: `Discarded the unfinished upload of ${inText(path)}.` })
}

const NO_UNDO = "Deleted files are gone for good. You can't undo this."

/** Calls of an earlier release, still answered for one more. */
const GONE = {
  moves: "A bucket can't rename. Rename or move files in /data on a server, or with rclone.",
  folders: 'A folder exists once it has a file. Upload a file into it.',
  deletions: NO_UNDO,
  undo: NO_UNDO,
}

export function gone(what: keyof typeof GONE): never {
  throw new AppError('gone', GONE[what])
}
