import { expect } from 'vitest'
import type { FileList, FileUpload } from '../../src/domain/wire/files.ts'
import type { Client } from './client.ts'

/** Asks for a link and uploads the file. */
export async function upload(person: Client, path: string, content = 'hello'): Promise<void> {
  const size = Buffer.byteLength(content)
  const { status, body } = await person.post<{ upload: FileUpload }>('/api/v1/files', { path, size })
  expect([status, body]).toMatchObject([201, { upload: { path } }])
  const { url, method, headers } = body.upload
  expect((await fetch(url, { method, headers, body: content })).status).toBe(200)
}

/** What a folder has, as the API lists it. */
export const listFolder = async (person: Client, path = ''): Promise<FileList> =>
  (await person.get<FileList>(`/api/v1/files?path=${encodeURIComponent(path)}`)).body
