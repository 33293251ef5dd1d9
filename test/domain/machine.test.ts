import { expect, test } from 'vitest'
import { gpusOfType, machinesOf, machineText, restartGives } from '../../src/domain/machine.ts'

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

test('counts the GPUs of a type', () => {
  expect(['g6.4xlarge', 'g6.12xlarge', 'g6.48xlarge', 'g5.4xlarge'].map(gpusOfType)).toEqual([1, 4, 8, null])
})

test('offers what would start now, then the first of each smaller size', () => {
  const offer = (server_id: string, instance_type: string, available = true) =>
    ({ server_id, instance_type, availability_zone: 'us-east-1a', available }) as Parameters<
      typeof machinesOf
    >[0][number]
  const offers = [
    offer('taken', 'g6.12xlarge', false),
    offer('first', 'g6.24xlarge'),
    offer('same size', 'g6.12xlarge'),
    offer('small', 'g6.4xlarge'),
    offer('smaller', 'g6.xlarge'),
  ]
  expect(machinesOf(offers)).toEqual([offers[1], offers[3]])
  expect(machinesOf([])).toEqual([])
})

test('says what a restart gives', () => {
  expect(restartGives(4)).toBe('Your plan now includes 4 × L4. To use them, stop this server and start another.')
  expect(restartGives(8)).toBe('Your plan now includes 8 × L4. To use them, stop this server and start another.')
  expect(restartGives(9)).toBe(
    'Your plan now includes larger machines. To use one, stop this server and start another.',
  )
})
