import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { OWN_SITE } from '../../../src/domain/own-site.ts'
import { withOwnSite } from '../../../src/server/http/own-site.ts'

test('an isolate packs the command line once for each build and site', async () => {
  const build = (etag: string, text: string) =>
    new Response(gzipSync(`${text} ${OWN_SITE}`), { headers: { ETag: etag, 'Content-Length': '1' } })
  const read = async (file: Response, origin = 'https://a.example') => {
    const answer = await withOwnSite(file, true, origin)
    expect(answer.headers.get('Content-Length')).toBeNull()
    return gunzipSync(Buffer.from(await answer.arrayBuffer()))
      .toString()
      .trim()
  }
  expect(await read(build('"1"', 'one'))).toBe('one https://a.example')
  const unread = build('"1"', 'unread')
  expect(await read(unread)).toBe('one https://a.example')
  expect(await unread.body?.getReader().read()).toMatchObject({ done: true })
  expect(await read(build('"1"', 'one'), 'https://b.example')).toBe('one https://b.example')
  expect(await read(build('"2"', 'two'), 'https://b.example')).toBe('two https://b.example')
})
