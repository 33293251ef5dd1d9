import { join } from 'node:path'
import { CACHE, found, hasPackages, type ThirdParty } from './third-party.ts'

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
  find: () => (FOLDERS.every((folder) => hasPackages(python(folder), PACKAGES[folder])) ? CACHE : null),
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
