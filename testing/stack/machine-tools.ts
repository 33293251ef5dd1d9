import { spawnSync } from 'node:child_process'
import { hasPrograms } from './programs.ts'

/** Whether what a machine of ours runs at its start is here. With CI=true, its tests fail without them. */
export const hasMachineTools = hasPrograms('bash', 'curl')

const inNamespaces = ['--map-root-user', '--net', '--mount', 'sh', '-c', 'ip link && iptables -S']

/** Whether a test can also have networks of its own, with firewalls. */
export const hasNamespaces =
  Boolean(process.env.CI) || (hasMachineTools && spawnSync('unshare', inNamespaces).status === 0)
