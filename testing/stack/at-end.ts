import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const works: (() => unknown)[] = []

/** Does this once the file's last test is over, even if it failed. Unlike `afterAll`, also from within tests and hooks. */
export function atEnd(work: () => unknown): void {
  works.push(work)
}

/** A folder that is removed at the end. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The latest first: what uses a folder closes before the folder goes. */
export async function endAll(): Promise<void> {
  const failures: unknown[] = []
  for (const work of works.splice(0).reverse())
    try {
      await work()
    } catch (error) {
      failures.push(error)
    }
  if (failures.length) throw new AggregateError(failures, 'Something could not be cleaned up.')
}
