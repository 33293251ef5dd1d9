import * as v from 'valibot'
import { rule } from './form.ts'
import { isPublicRegistry, isRegistry, PRIVATE_REGISTRY } from './image-reference.ts'
import { bytesOf } from './parameters.ts'
import { CURRENT_PASSWORD_REQUIRED } from './user.ts'

/** Logins that an account keeps for registries, to pull its private images. Nobody can read back a token. */

/** How many an account may have. */
export const MOST_LOGINS = 5
const MOST_USERNAME = 255
const MOST_BYTES = 8_192

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const LOGIN_SAVED = 'Registry login saved.'
export const LOGIN_REMOVED = 'Registry login removed.'
export const TOO_MANY_LOGINS = `You have ${MOST_LOGINS} registry logins, the most an account can have. Remove one first.`
const NO_HOST = 'Please enter the host of a registry, such as ghcr.io, without a path.'
const SHORT_LOGINS =
  "Amazon ECR's logins expire after 12 hours, so we can't save one. Copy the image to another registry, such as ghcr.io."
// Stryker restore StringLiteral

/** Docker Hub's other names, and what `docker login` calls it. */
const DOCKER_HUB = /^(index\.|registry-1\.|registry\.|hub\.|www\.)?docker\.(io|com)(\/v1)?$/
const ECR = /(\.dkr\.ecr(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?|^public\.ecr\.aws)$/

/** As images name it, however people write it: `https://index.docker.io/v1/` is `docker.io`. */
export function registryHost(typed: string): string {
  const host = typed
    .trim()
    .toLowerCase()
    .replace(/^https:\/\//, '')
    .replace(/\/+$/, '')
  return DOCKER_HUB.test(host) ? 'docker.io' : host
}

export const registryLoginForm = v.pipe(
  v.object({ host: v.string(), username: v.string(), token: v.string(), current_password: v.string() }),
  v.transform((f) => ({ ...f, host: registryHost(f.host), username: f.username.trim(), token: f.token.trim() })),
  rule('host', (f) => f.host !== '', 'Please enter a registry.'),
  rule('host', (f) => isRegistry(f.host), NO_HOST),
  rule('host', (f) => isPublicRegistry({ registry: f.host }), PRIVATE_REGISTRY),
  rule('host', (f) => !ECR.test(f.host), SHORT_LOGINS),
  rule('username', (f) => f.username !== '', 'Please enter a username.'),
  rule('username', (f) => f.username.length <= MOST_USERNAME, `A username cannot exceed ${MOST_USERNAME} characters.`),
  // HTTP's own form of a login ends the username there.
  rule('username', (f) => /^[^:\p{C}]*$/u.test(f.username), "A username can't have a colon or a control character."),
  rule('token', (f) => f.token !== '', 'Please enter a password or a token.'),
  rule('token', (f) => bytesOf(f.token) <= MOST_BYTES, 'The token cannot exceed 8,192 bytes.'),
  rule('token', (f) => !f.token.includes('\0') && f.token.isWellFormed(), 'The token must be text without a NUL.'),
  rule('current_password', (f) => f.current_password !== '', CURRENT_PASSWORD_REQUIRED),
)
