import { connect, type Socket } from 'node:net'
import { atEnd } from '../stack/at-end.ts'
import { newRunner, type openDoorStack, tokenOf } from '../stack/door.ts'
import { newComputer } from './command-line.ts'

type Stack = Awaited<ReturnType<typeof openDoorStack>>

/** Someone with a running server, and a computer that knows nothing but a token of theirs. */
export async function newForwarder(stack: Pick<Stack, 'url'>, url = stack.url) {
  const { person, server } = await newRunner(stack)
  const token = await tokenOf(person)
  return { person, server, token, ...newComputer({ PROVING_GROUND_URL: url, PROVING_GROUND_TOKEN: token }) }
}

type Computer = Pick<ReturnType<typeof newComputer>, 'open'>

/** Leads a free port of this computer to each of these, with the built command line. */
export async function openForward({ open }: Computer, ports: number[]) {
  const command = open(['forward', ...ports.map((port) => `${port}:0`)])
  atEnd(() => void command.child.kill('SIGKILL'))
  await command.shows('Press Ctrl-C')
  const localPort = (port: number) =>
    Number(new RegExp(`^Port ${port} of .* is at 127\\.0\\.0\\.1:(\\d+)$`, 'm').exec(command.seen.out)?.[1])
  return {
    ...command,
    localPort,
    /** A connection of this computer. It ends its half when told to, not when the other side does. */
    connect: (port: number): Promise<Socket> => connected(localPort(port)),
  }
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  atEnd(() => void socket.destroy())
  await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('error', reject))
  return socket
}

/** How it ended, once it did: by the end of both halves, or broken off. */
export const endOf = (socket: Socket) =>
  new Promise<'closed' | 'reset'>((resolve) =>
    socket.resume().on('close', (broken) => resolve(broken ? 'reset' : 'closed')),
  )
