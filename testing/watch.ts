import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/** The sources of the built Worker and the command line. */
export const isBuilt = (path: string): boolean => /^(src|db|public|cli\/src)\//.test(relative(ROOT, path))

/** `npm run test:watch -- test/e2e` */
const named = process.argv.slice(2).filter((argument) => argument.startsWith('test/'))

/**
 * The tests to run after a change to that source: those you named, otherwise the one that mirrors it, otherwise its
 * folder's. Undefined if there are none: Vitest then reruns those that import it.
 */
export function testsOf(source: string): string[] | undefined {
  const path = relative(ROOT, source)
  if (!/^(src|db|dev|cli\/src)\/.*\.(tsx?|css)$/.test(path)) return undefined
  if (named.length)
    return named.flatMap((name) => tests(/\.test\.tsx?$/.test(name) ? name : `${name}/**/*.test.{ts,tsx}`))
  const mirrored = path.replace(/^(src\/|(cli\/)src\/)?/, 'test/$2').replace(/\.\w+$/, '')
  const found = [tests(`${mirrored}.test.{ts,tsx}`), tests(`${dirname(mirrored)}/*.test.{ts,tsx}`)]
  return found.find((files) => files.length)
}

const tests = (pattern: string): string[] => globSync(pattern, { cwd: ROOT })

/** The ways to reach the built Worker: the run's stack, a test's own stack, or the files themselves. */
const WAYS = /inject\('url'\)|dev\/(stack|main)\.ts'|\bdist\b/

/** Whether that test, or a helper that it imports, talks to the built Worker. */
export function drivesWorker(test: string): boolean {
  const seen = new Set<string>()
  const leadsThere = (path: string): boolean => {
    if (seen.has(path) || !existsSync(path)) return false
    seen.add(path)
    const source = readFileSync(path, 'utf8')
    const imports = [...source.matchAll(/^(?:import .*|\}) from '(\.[^']+\.tsx?)'/gm)]
    return (
      WAYS.test(source) ||
      imports
        .map(([, from = '']) => resolve(path, '..', from))
        .some((from) => /^test(ing)?\//.test(relative(ROOT, from)) && leadsThere(from))
    )
  }
  return leadsThere(test)
}
