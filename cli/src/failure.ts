import type { RefusalCode } from '../../src/domain/error.ts'

/** What the process exits with. cli/README.md lists them. */
export const EXIT = {
  refused: 1,
  usage: 2,
  notSignedIn: 3,
  noCapacity: 4,
  timeout: 5,
  /** On this computer: another program is listening there, or only an administrator may. */
  portTaken: 6,
  portProtected: 7,
  /** On the server: not a port that can be reached. */
  portClosed: 8,
  noDoor: 9,
  /** rclone is missing on this computer, or too old. */
  noRclone: 10,
  /** `run`: the server's end came before its program's. */
  endCame: 124,
  /** `run`: we couldn't run the program, or say how it ended. */
  notRun: 125,
  interrupted: 130,
  /** `run`: the server was stopped. */
  stopped: 143,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command with this code, and this sentence on stderr. */
export class Failure extends Error {
  readonly exitCode: ExitCode
  /** If the site refused: why. */
  readonly code: RefusalCode | null

  constructor(exitCode: ExitCode, sentence: string, code: RefusalCode | null = null) {
    super(sentence)
    this.exitCode = exitCode
    this.code = code
  }
}

export const wrongUsage = (sentence: string) => new Failure(EXIT.usage, sentence)
