import * as v from 'valibot'
import { expect, test } from 'vitest'
import { ownEnvironmentForm } from '../../src/domain/own-environment.ts'

const faults = (name: string, image: string) => {
  const read = v.safeParse(ownEnvironmentForm, { name, image })
  return read.success ? [] : read.issues.map(({ message }) => message)
}

test('takes a name and a public image, without the spaces around them', () => {
  const typed = { name: ' Harbor ', image: ' ghcr.io/ada/harbor:1 ' }
  expect(v.parse(ownEnvironmentForm, typed)).toEqual({ name: 'Harbor', image: 'ghcr.io/ada/harbor:1' })
  expect(faults('Harbor', 'ada/harbor')).toEqual([])
})

test.each([
  ['', 'ada/harbor', 'Please enter a name.'],
  ['-v', 'ada/harbor', 'A name begins with a letter and has at most 40 letters, digits, hyphens, and underscores.'],
  ['Harbor', ' ', 'Please enter an image.'],
  ['Harbor', 'ada/harbor --privileged', 'Please enter an image reference, such as ghcr.io/you/simulator:1.2.'],
  // A tag of our own image is the catalog's.
  ['Harbor', ':latest', 'Please enter an image reference, such as ghcr.io/you/simulator:1.2.'],
  ['Harbor', '169.254.169.254/harbor', 'This registry is not on the public Internet.'],
  ['Harbor', 'localhost:5000/harbor', 'This registry is not on the public Internet.'],
])('refuses the name %j with the image %j', (name, image, sentence) => {
  expect(faults(name, image)[0]).toBe(sentence)
})
