import { expect, test } from 'vitest'
import { machineText } from '../../src/domain/machine.ts'

test.each([
  ['g6.xlarge', '1 × L4, 4 CPU, 16 GB'],
  ['g6.2xlarge', '1 × L4, 8 CPU, 32 GB'],
  ['g6.4xlarge', '1 × L4, 16 CPU, 64 GB'],
  ['g6.8xlarge', '1 × L4, 32 CPU, 128 GB'],
  ['g6.12xlarge', '4 × L4, 48 CPU, 192 GB'],
  ['g6.16xlarge', '1 × L4, 64 CPU, 256 GB'],
  ['g6.24xlarge', '4 × L4, 96 CPU, 384 GB'],
  ['g6.48xlarge', '8 × L4, 192 CPU, 768 GB'],
])('%s is %s', (type, words) => {
  expect(machineText(type)).toBe(words)
  expect(machineText(type, 'us-east-1a')).toBe(`${words}, us-east-1a`)
})

test.each(['g6.metal', 'g6', 'g5.4xlarge', 'm1.small'])('keeps the name of %s, which is not in the list', (type) => {
  expect(machineText(type)).toBe(type)
  expect(machineText(type, null)).toBe(type)
  expect(machineText(type, 'us-east-1b')).toBe(`${type}, us-east-1b`)
})
