import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, found, type ThirdParty } from './third-party.ts'

/** What customers' programs use. AirSim's RPC needs a folder of its own: its msgpack is older than the others'. */
const PACKAGES = {
  'stock-rpc': { 'msgpack-rpc-python': '0.4.1', 'msgpack-python': '0.5.6', tornado: '4.5.3' },
  'stock-programs': { pymavlink: '2.4.50', roslibpy: '2.1.0' },
}
type Folder = keyof typeof PACKAGES
const FOLDERS = Object.keys(PACKAGES) as Folder[]
const python = (folder: Folder) => join(CACHE, folder, 'bin/python')

/** Clients that nobody here wrote, of msgpack-rpc, MAVLink, and rosbridge, from PyPI. */
export const stockPrograms: ThirdParty = {
  name: 'msgpack-rpc, pymavlink, and roslibpy',
  find: () => (FOLDERS.every(hasVersions) ? CACHE : null),
  install: FOLDERS.flatMap((folder): [string, ...string[]][] => [
    ['python3', '-m', 'venv', '--clear', join(CACHE, folder)],
    [
      python(folder),
      ...['-m', 'pip', 'install', '--quiet'],
      ...Object.entries(PACKAGES[folder]).map(([name, version]) => `${name}==${version}`),
    ],
  ]),
  env: {},
}

/** The Python that has these packages. */
export function pythonWith(folder: Folder): string {
  found(stockPrograms)
  return python(folder)
}

function hasVersions(folder: Folder): boolean {
  if (!existsSync(python(folder))) return false
  const print = 'import sys; from importlib.metadata import version; print([version(name) for name in sys.argv[1:]])'
  try {
    const said = execFileSync(python(folder), ['-c', print, ...Object.keys(PACKAGES[folder])], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return said.trim() === `['${Object.values(PACKAGES[folder]).join("', '")}']`
  } catch {
    return false
  }
}
