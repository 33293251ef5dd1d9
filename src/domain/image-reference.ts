import { isPublicName } from './own-machine.ts'

/** A container image's reference, by the grammar of github.com/distribution/reference: `ghcr.io/example/sim:1.2@sha256:…`. */
export type ImageReference = {
  /** The registry, with its port; null: Docker Hub. */
  registry: string | null
  repository: string
  tag: string | null
  /** The only part that always identifies the same image. */
  digest: string | null
}

// Stryker disable next-line StringLiteral: text for people; the route tests check it.
export const PRIVATE_REGISTRY = 'This registry is not on the public Internet.'
/** An EC2 tag can't be longer. */
const MAX_REFERENCE = 256

const MAX_PORT = 65_535

const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const REGISTRY = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::[0-9]{1,5})?$`)
const PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const TAG = '[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}'
const REPOSITORY = new RegExp(`^(${PART}(?:/${PART})*)(?::(${TAG}))?(?:@(sha256:[0-9a-f]{64}))?$`)

/** Null if it isn't a reference that Docker would take. */
export function parseImage(text: string): ImageReference | null {
  if (text.length > MAX_REFERENCE) return null
  const [first = '', ...others] = text.split('/')
  const hasRegistry = others.length > 0 && (first === 'localhost' || /[.:A-Z]/.test(first))
  if (hasRegistry && !isRegistry(first)) return null
  const [, repository, tag = null, digest = null] = REPOSITORY.exec(hasRegistry ? others.join('/') : text) ?? []
  // Docker reads 64 hexadecimal digits as an image's ID.
  if (repository === undefined || (!hasRegistry && /^[0-9a-f]{64}$/.test(repository))) return null
  return { registry: hasRegistry ? first : null, repository, tag, digest }
}

/** Whether this names a registry, with its port if it has one. It must fit into an EC2 tag before a slash. */
export function isRegistry(text: string): boolean {
  const [, port = 0] = /:(\d+)$/.exec(text) ?? []
  return text.length < MAX_REFERENCE && REGISTRY.test(text) && Number(port) <= MAX_PORT
}

/** Whether its registry may be on the public Internet. */
export function isPublicRegistry({ registry }: Pick<ImageReference, 'registry'>): boolean {
  return registry === null || isPublicName(registry.toLowerCase().replace(/:\d+$/, ''))
}
