import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { parseImage } from '../../src/domain/image-reference.ts'

/** CloudFormation passes at most this many characters in a parameter. */
const MOST = 4096

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

const [image = '', site = ''] = process.argv.slice(2)
const isOrigin = URL.canParse(site) && new URL(site).origin === site && /^https?:/.test(site)
if (process.argv.length <= 4 && parseImage(image) && (site === '' || isOrigin)) {
  // A machine needs no comments.
  const script = (name: string) => read(`./${name}`).replace(/^ *# .*\n/gm, '')
  const text = read('./cloud-init.yaml')
    .replace(/^( *)# .*\n/gm, '')
    .replace(/^( *)@(\w+\.sh)@\n/gm, (_, indent: string, name: string) => script(name).replace(/^(?=.)/gm, indent))
    .replaceAll('@IMAGE@', image)
    .replaceAll('@SITE@', site)
  // cloud-init unpacks gzip.
  const data = gzipSync(text, { level: 9 }).toString('base64')
  console.log(`UserData=${data.slice(0, MOST)}`)
  if (data.length > MOST) console.log(`UserDataRest=${data.slice(MOST)}`)
} else {
  console.error(`Usage: npx node infra/image/user-data.ts <container image, such as ghcr.io/example/simulator:1.2> [<the site's origin, if it has files>]
Prints the parameters UserData and UserDataRest of infra/zone.yaml.`)
  process.exitCode = 1
}
