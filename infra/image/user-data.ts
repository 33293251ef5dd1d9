import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { parseImage } from '../../src/domain/image-reference.ts'
import { MACHINE_PORTS } from '../../src/domain/machine-ports.ts'
import { SERVER_WEB_PORT } from '../../src/domain/server.ts'

/** CloudFormation passes at most this many characters in a parameter. */
const MOST = 4096

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

/** The ports of its container that a machine publishes, for simulator.sh. */
export const publishedPorts = () => [SERVER_WEB_PORT, ...MACHINE_PORTS.map(({ port }) => port)].join(' ')

/**
 * What a machine does at its first boot, as the parameters of infra/zone.yaml.
 * @param site its origin, if machines talk to it
 * @throws a sentence, if one of them is malformed
 */
export function userData(image: string, site = ''): { UserData: string; UserDataRest: string } {
  if (!parseImage(image)) throw new Error(`"${image}" isn't a container image, such as ghcr.io/example/simulator:1.2.`)
  if (site && !(URL.canParse(site) && new URL(site).origin === site && /^https?:/.test(site)))
    throw new Error(`"${site}" isn't a site's origin, such as https://proving-ground.example.`)
  // A machine needs no comments.
  const script = (name: string) => read(`./${name}`).replace(/^ *# .*\n/gm, '')
  const text = read('./cloud-init.yaml')
    .replace(/^( *)# .*\n/gm, '')
    .replace(/^( *)@([\w-]+\.sh)@\n/gm, (_, indent: string, name: string) => script(name).replace(/^(?=.)/gm, indent))
    .replaceAll('@IMAGE@', image)
    .replaceAll('@SITE@', site)
    .replaceAll('@PORTS@', publishedPorts())
  // cloud-init unpacks gzip.
  const data = gzipSync(text, { level: 9 }).toString('base64')
  return { UserData: data.slice(0, MOST), UserDataRest: data.slice(MOST) }
}
