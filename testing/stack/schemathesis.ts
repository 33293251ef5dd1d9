import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { CACHE, found, hasPackages, type ThirdParty } from './third-party.ts'

/** The version whose checks the tests know. */
const VERSION = '4.32.5'
const OURS = join(CACHE, 'schemathesis')
const PYTHON = join(OURS, 'bin/python')

/** A third-party program that reads an OpenAPI document and sends requests its authors didn't expect. */
export const schemathesis: ThirdParty = {
  name: `schemathesis ${VERSION}`,
  find: () => (hasPackages(PYTHON, { schemathesis: VERSION }) ? join(OURS, 'bin/schemathesis') : null),
  install: [
    ['python3', '-m', 'venv', '--clear', OURS],
    [PYTHON, '-m', 'pip', 'install', '--quiet', `schemathesis==${VERSION}`],
  ],
  env: {},
}

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
]

/** Sends the same requests each time, with these headers. @returns its report; empty if it found nothing */
export function runSchemathesis(
  url: string,
  headers: Record<string, string>,
  phases: string,
  operations: { operationId: string }[],
): Promise<string> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const fixed = ['--checks', CHECKS.join(), '--phases', phases, '--seed', '1', '--no-color']
  const calm = ['--max-examples', '15', '--suppress-health-check', 'all', '--generation-database', 'none']
  const only = operations.flatMap(({ operationId }) => ['--include-operation-id', operationId])
  const command = ['run', `${url}/api/openapi.json`, ...sent, ...fixed, ...calm, ...only]
  return new Promise((resolve, reject) =>
    execFile(found(schemathesis), command, { cwd: OURS, maxBuffer: 1e8 }, (error, output, complaint) => {
      if (!error) resolve('')
      else if (error.code === 1) resolve(output)
      else reject(new Error(`${complaint}\n${output}`, { cause: error }))
    }),
  )
}
