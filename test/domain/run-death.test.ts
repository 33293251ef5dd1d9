import { expect, test } from 'vitest'
import { deathText, exitText } from '../../src/domain/run-death.ts'
import { DEATHS } from '../../src/domain/run-end.ts'

test('each death has its own sentence, which names the image where that helps', () => {
  const texts = DEATHS.map((death) => deathText(death, 'ghcr.io/ada/harbor:1', 3))
  expect(new Set(texts).size).toBe(DEATHS.length)
  for (const [i, death] of DEATHS.entries())
    expect([death, texts[i]?.includes('ghcr.io/ada/harbor:1')]).toEqual([
      death,
      !['exited', 'out_of_memory', 'secret_missing'].includes(death),
    ])
})

test('exit codes in words', () => {
  expect([3, 1, 137, 139].map(exitText)).toEqual([
    'exit code 3',
    'exit code 1 (an error)',
    'exit code 137 (killed)',
    'exit code 139 (an invalid memory access)',
  ])
  expect(deathText('exited', null, null)).toBe(
    'Your program ended before it answered on port 5173. We tried three times. Its log shows the last thing it said.',
  )
})
