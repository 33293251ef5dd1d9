import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { parseImage } from '../../src/domain/image-reference.ts'

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

const [image = ''] = process.argv.slice(2)
if (process.argv.length === 3 && parseImage(image)) {
  const [before = '', after = ''] = read('./cloud-init.yaml').split(/^ *@SCRIPT@\n/m)
  const script = read('./simulator.sh').replace(/^(?=.)/gm, ' '.repeat(6))
  const text = before + script + after.replaceAll('@IMAGE@', image)
  // CloudFormation passes at most 4,096 characters. cloud-init unpacks gzip.
  console.log(gzipSync(text, { level: 9 }).toString('base64'))
} else {
  console.error(`Usage: npx node infra/image/user-data.ts <container image, such as ghcr.io/example/simulator:1.2>
Prints the UserData of infra/zone.yaml, in base64.`)
  process.exitCode = 1
}
