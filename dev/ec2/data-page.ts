import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { DataFolder } from './data-folder.ts'

const MOST_BYTES = 100_000_000

/**
 * What the simulator's page does in /data: `GET /data/folder/` lists, `GET /data/file` reads, `PUT /data/file` writes.
 * Only the owner may, according to the door.
 */
export async function answerData(
  folder: DataFolder | undefined,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  headers: Record<string, string>,
): Promise<void> {
  const say = (status: number, text = '') =>
    response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end(text)
  if (folder?.state !== 'loaded') return void say(404, 'This server has no files.\n')
  if (request.headers['x-door-visitor'] !== 'owner')
    return void say(403, "Only the server's owner can use its files.\n")
  try {
    const isList = path === '' || path.endsWith('/')
    if (request.method === 'PUT') {
      const site = request.headers['sec-fetch-site']
      if ((site !== undefined && site !== 'same-origin') || isList) return void say(403)
      const bytes = await buffer(request)
      if (!(await folder.mayWrite())) return void say(403, 'Your files are read-only.\n')
      if (bytes.length > MOST_BYTES) return void say(413)
      folder.write(path, bytes)
      return void say(204)
    }
    if (isList) {
      const entries = await folder.list(path)
      const body = JSON.stringify({ mayWrite: await folder.mayWrite(), entries })
      return void response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(body)
    }
    const found = await folder.read(path)
    if (!found) return void say(404, 'Not found\n')
    const type = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' }
    response.writeHead(200, { ...headers, ...type }).end(found)
  } catch (error) {
    say(503, `The bucket can't be reached: ${error}\n`)
  }
}
