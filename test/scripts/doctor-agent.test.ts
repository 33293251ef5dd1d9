import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { userData } from '../../infra/image/user-data.ts'
import { faultOfUserData } from '../../scripts/doctor/aws.ts'

const SITE = 'https://sims.test'
const given = (site: string) => Object.values(userData('example.com/simulator:1', site)).join('')

test('machines tell this site what happens inside a run, with whichever agent it serves', () => {
  expect(faultOfUserData(given(SITE), SITE)).toBeNull()
  expect(faultOfUserData(given('https://other.test'), SITE)).toMatch(/^doesn't tell its machines that their site is/)
  expect(faultOfUserData(given(''), SITE)).toMatch(/^doesn't tell its machines/)
  const text = gunzipSync(Buffer.from(given(SITE), 'base64')).toString()
  const older = gzipSync(text.replaceAll('/machines/agent.py', `/machines/agent-${'0'.repeat(16)}.py`)).toString(
    'base64',
  )
  expect(faultOfUserData(older, SITE)).toMatch(/^names an agent of one version, .* Deploy the zone again\.$/)
  expect(faultOfUserData(Buffer.from('#!/bin/sh').toString('base64'), SITE)).toMatch(/^doesn't tell/)
  expect(faultOfUserData(undefined, SITE)).toBe('starts nothing at the first boot.')
})
