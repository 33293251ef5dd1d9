import { readFileSync } from 'node:fs'

/** A registry's image reference: no spaces, quotes, or anything else that a unit file would misread. */
const IMAGE = /^[a-z0-9][a-z0-9._:/-]*(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?$/i

const [image = ''] = process.argv.slice(2)
if (process.argv.length === 3 && IMAGE.test(image)) {
  const text = readFileSync(new URL('./cloud-init.yaml', import.meta.url), 'utf8')
  console.log(Buffer.from(text.replaceAll('@IMAGE@', image)).toString('base64'))
} else {
  console.error(`Usage: npx node infra/image/user-data.ts <container image, such as ghcr.io/example/simulator:1.2>
Prints the UserData of infra/zone.yaml, in base64.`)
  process.exitCode = 1
}
