import * as v from 'valibot'
import { rule } from './form.ts'
import { isPublicRegistry, PRIVATE_REGISTRY, parseImage } from './image-reference.ts'
import { isEnvironmentName } from './worlds.ts'

/** Build Your Own: container images that an account brings, as environments of its own. */

/** How many an account may have. */
export const MAX_OWN_ENVIRONMENTS = 10

// Stryker disable StringLiteral: text for people; the route and browser tests check it.
export const OWN_DESCRIPTION = 'Your own image.'
export const OWN_NEEDS_PLAN = 'Build Your Own needs Premium.'
export const ENVIRONMENT_ADDED = 'Environment added. Choose it beside Start Server.'
export const ENVIRONMENT_REMOVED = 'Environment removed.'
export const NAME_TAKEN = 'You already have an environment with this name. Choose another name.'
export const TOO_MANY_ENVIRONMENTS = `You have ${MAX_OWN_ENVIRONMENTS} environments, the most an account can have. Remove one first.`
// Stryker restore StringLiteral

export const ownEnvironmentForm = v.pipe(
  v.object({ name: v.string(), image: v.string() }),
  rule('name', (f) => f.name.trim() !== '', 'Please enter a name.'),
  rule(
    'name',
    (f) => isEnvironmentName(f.name.trim()),
    'A name begins with a letter and has at most 40 letters, digits, hyphens, and underscores.',
  ),
  rule('image', (f) => f.image.trim() !== '', 'Please enter an image.'),
  rule(
    'image',
    (f) => parseImage(f.image.trim()) !== null,
    'Please enter an image reference, such as ghcr.io/you/simulator:1.2.',
  ),
  rule('image', (f) => isPublic(f.image.trim()), PRIVATE_REGISTRY),
  v.transform((f) => ({ name: f.name.trim(), image: f.image.trim() })),
)

function isPublic(image: string): boolean {
  const parsed = parseImage(image)
  return !parsed || isPublicRegistry(parsed)
}
