import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ImageReference, isPublicRegistry, parseImage } from '../../src/domain/image-reference.ts'

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`
const NOTHING: ImageReference = { registry: null, repository: '', tag: null, digest: null }

test.each<[string, Partial<ImageReference>]>([
  ['ubuntu', { repository: 'ubuntu' }],
  ['ubuntu:24.04', { repository: 'ubuntu', tag: '24.04' }],
  ['example/sim', { repository: 'example/sim' }],
  ['ghcr.io/example/sim:1.2', { registry: 'ghcr.io', repository: 'example/sim', tag: '1.2' }],
  [`ghcr.io/a/b/c@${DIGEST}`, { registry: 'ghcr.io', repository: 'a/b/c', digest: DIGEST }],
  [`sim:1@${DIGEST}`, { repository: 'sim', tag: '1', digest: DIGEST }],
  ['localhost/sim', { registry: 'localhost', repository: 'sim' }],
  ['ghcr.io:65535/sim', { registry: 'ghcr.io:65535', repository: 'sim' }],
  ['registry:5000/sim:_x', { registry: 'registry:5000', repository: 'sim', tag: '_x' }],
  ['Registry/sim', { registry: 'Registry', repository: 'sim' }],
  ['10.0.0.1:5000/sim', { registry: '10.0.0.1:5000', repository: 'sim' }],
  ['a-b.example.com/x__y/z-1.2_3', { registry: 'a-b.example.com', repository: 'x__y/z-1.2_3' }],
  ['x---y', { repository: 'x---y' }],
  [`sim:${'t'.repeat(128)}`, { repository: 'sim', tag: 't'.repeat(128) }],
  ['s'.repeat(256), { repository: 's'.repeat(256) }],
  [`ghcr.io/${'0'.repeat(64)}`, { registry: 'ghcr.io', repository: '0'.repeat(64) }],
  ['0'.repeat(63), { repository: '0'.repeat(63) }],
])('reads %s', (text, parts) => {
  expect(parseImage(text)).toEqual({ ...NOTHING, ...parts })
})

test.each([
  '',
  ' ubuntu',
  'ubuntu ',
  'ubuntu\n',
  'Ubuntu',
  'ghcr.io/Example/sim',
  'ghcr.io/',
  '/sim',
  'ghcr.io//sim',
  'sim/',
  'sim:',
  'sim:.1',
  'sim:-1',
  'sim:1:2',
  `sim:${'t'.repeat(129)}`,
  'sim@',
  'sim@sha256:0123',
  `sim@${DIGEST}0`,
  `sim@sha512:${'0'.repeat(128)}`,
  '0'.repeat(64),
  's'.repeat(257),
  '-sim',
  'sim-',
  'a___b',
  'a..b',
  'a._b',
  '--privileged',
  '-ghcr.io/sim',
  'ghcr-.io/sim',
  'ghcr..io/sim',
  'ghcr.io:/sim',
  'ghcr.io:x/sim',
  'ghcr.io:123456/sim',
  'ghcr.io:65536/sim',
  '[::1]:5000/sim',
  'https://ghcr.io/example/sim',
  'user:secret@ghcr.io/sim',
  'sim;reboot',
  '$(reboot)',
  ':latest',
])('refuses %j', (text) => {
  expect(parseImage(text)).toBeNull()
})

test('whatever it takes is one word of safe characters, and its parts spell it again', () => {
  const word = fc.string({ unit: fc.constantFrom(...'aZ0.:/@-_ \n$`"\''), maxLength: 12 })
  const plausible = fc
    .tuple(fc.constantFrom('', 'ghcr.io/', 'h:1/'), word, fc.constantFrom('', ':1', `@${DIGEST}`))
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(plausible, (text) => {
      const image = parseImage(text)
      if (!image) return
      const { registry, repository, tag, digest } = image
      expect(text).toMatch(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/)
      const spelled = `${registry ? `${registry}/` : ''}${repository}${tag ? `:${tag}` : ''}${digest ? `@${digest}` : ''}`
      expect(spelled).toBe(text)
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  [null, true],
  ['ghcr.io', true],
  ['registry.example.com:5000', true],
  ['internal.example.com', true],
  ['registry.localnet.example', true],
  ['localhost', false],
  ['localhost:5000', false],
  ['registry', false],
  ['registry:5000', false],
  ['169.254.169.254', false],
  ['10.42.0.9:443', false],
  ['0x7f.1', false],
  ['127.0x1:80', false],
  ['a.0x', false],
  ['0x7f.example', true],
  ['ip-10-42-0-9.ec2.internal', false],
  ['printer.local', false],
  ['box.localhost:80', false],
  ['box.LOCAL', false],
])('a registry at %s is public: %s', (registry, isPublic) => {
  expect(isPublicRegistry({ registry })).toBe(isPublic)
})
