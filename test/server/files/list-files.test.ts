import { expect, test } from 'vitest'
import { fileFolders } from '../../../db/schema/files.ts'
import { listFiles } from '../../../src/server/files/list-files.ts'
import { openFilesAccount } from '../../../testing/stack/files-account.ts'

const door = { domain: 'door.example' } as never
const files = {} as never

test.each([
  // Nobody reaches a machine past its door.
  [{ files, door, doorOnly: true }, 'all'],
  // A program that runs to its end publishes no port.
  [{ files, door: null, doorOnly: false }, 'until_exit'],
  // Here it does, beside its door.
  [{ files, door, doorOnly: false }, 'none'],
] as const)('says which servers have the files (%#)', async (settings, on_servers) => {
  const ada = await openFilesAccount()
  const ctx = { ...ada.ctx, config: { ...ada.ctx.config, ...settings } }
  const list = () => listFiles(ctx, ada.userId, { path: '', after: null })
  expect(await list()).toMatchObject({ on_servers })
  await ada.ctx.db.delete(fileFolders)
  expect(await list()).toMatchObject({ on_servers })
})
