import { expect, test } from 'vitest'
import { parametersFault, type RunParameters, readParameters, writeParameters } from '../../src/domain/parameters.ts'

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`P${i}`, '']))

test.each([
  ['nothing', {}],
  ['a name of 64 characters', { [`A${'_'.repeat(63)}`]: 'x' }],
  ['digits, an empty value, and any text', { A1: '', B_2: ' ä "quoted" $HOME \t =' }],
  ['PYTHONUNBUFFERED, which we set unless they do', { PYTHONUNBUFFERED: '' }],
  ['what only begins like ours', { PATHS: 'a', HOMES: 'b', LDX: 'c', ENVIRONMENTS: 'd' }],
  ['32 of them', many(32)],
  ['4,096 bytes', { A: `${'ü'.repeat(2047)}x` }],
])('takes %s', (_, parameters) => {
  expect(parametersFault(parameters)).toBeNull()
})

test.each<[string, RunParameters, string]>([
  ['a name of 65', { [`A${'_'.repeat(64)}`]: 'x' }, `A${'_'.repeat(64)}`],
  ['a small letter', { speed: '1' }, '"speed"'],
  ['a digit first', { '1A': '1' }, '"1A"'],
  ['no name', { '': '1' }, '""'],
  ['a line break in a name', { 'A\n': '1' }, '"A\\n"'],
  ...['PATH', 'HOME', 'ENVIRONMENT', 'VEHICLE', 'LD_PRELOAD', 'NVIDIA_X', 'CUDA_', 'DOCKER_HOST'].map(
    (name): [string, RunParameters, string] => [name, { [name]: '' }, name],
  ),
  ['a line break', { OK: '', A: 'a\nb' }, 'parameter A '],
  ['a NUL', { A: 'a\u0000' }, 'parameter A '],
  ['33 of them', many(33), 'at most 32'],
  ['4,097 bytes', { A: `${'ü'.repeat(2047)}xx` }, '4097 bytes'],
])('refuses %s, and names it', (_, parameters, said) => {
  expect(parametersFault(parameters)).toContain(said)
})

test('reads lines as people write them, and writes them back', () => {
  const read = readParameters(' A=1 \r\n\n B = x=y\nC=\n \nno equals sign')
  expect(read).toEqual({ A: '1 ', B: ' x=y', C: '', 'no equals sign': '' })
  expect(readParameters(writeParameters(read))).toEqual(read)
})
