import { execFileSync } from 'node:child_process'
import { is } from 'drizzle-orm'
import { expect, test } from 'vitest'
import { queryTexts } from './queries.ts'

// A process of its own has drizzle as the Worker has it.
test('the drizzle of tests says what the real one says, also when asked again', () => {
  const program = `import { is } from 'drizzle-orm'
    import { queryTexts } from ${JSON.stringify(new URL('./queries.ts', import.meta.url))}
    console.log(JSON.stringify({ is: is.toString(), texts: queryTexts() }))`
  const args = ['--input-type=module', '-e', program]
  const real = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  expect(is.toString()).not.toBe(real.is)
  expect(queryTexts()).toEqual(real.texts)
  expect(queryTexts()).toEqual(real.texts)
})
