import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { newOperator } from '../../../testing/people/command-line.ts'
import { plain } from '../../../testing/people/reader.ts'
import { runWorkflow } from '../../../testing/stack/actions-runner.ts'
import { openDoorStack } from '../../../testing/stack/door.ts'
import { hasPrograms } from '../../../testing/stack/programs.ts'

const stack = await openDoorStack()

test('the docs show the private address and its header, and no address that refuses', async () => {
  for (const [path, example] of [
    ['/docs', `api "$(jq -r '.door_url' server.json)"`],
    ['/docs', 'curl -fsS -H "$HEADER" --create-dirs'],
    ['/docs/cli', 'curl -fsS -H "Authorization: Bearer $PROVING_GROUND_TOKEN" "$url"'],
  ] as const) {
    const page = plain(await (await fetch(stack.url + path)).text())
    expect(page).toContain(example)
    expect(page).not.toMatch(/http:\/\/\$[^ ]*:5173/)
  }
})

test.runIf(hasPrograms('curl'))('the GitHub action gives the private address, and the header for it', async () => {
  const ada = await newOperator(stack.url)
  const workflow = readFileSync('.github/workflows/smoke.yml', 'utf8')
  const secrets = { PROVING_GROUND_TOKEN: ada.token }
  const { ok, log } = await runWorkflow({ workflow, folder: process.cwd(), secrets, inputs: { url: stack.url } })
  expect([ok, log]).toEqual([true, expect.stringMatching(/is running: http:\/\/[a-z0-9]{24}\.door\.localhost:\d+\/\n/)])
})
