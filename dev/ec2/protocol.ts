import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Ec2Account } from './account.ts'
import { Calls, type Ec2Call } from './calls.ts'
import { describeInstanceStatus } from './describe-instance-status.ts'
import { describeInstances } from './describe-instances.ts'
import { Ec2Error, httpStatus, injectedError } from './ec2-error.ts'
import type { Faults } from './faults.ts'
import type { Instances } from './instances.ts'
import { QueryRequest } from './query-request.ts'
import { repeatsLaunch, runInstances } from './run-instances.ts'
import { terminateInstances } from './terminate-instances.ts'
import { answerDocument, errorDocument, type Xml } from './xml.ts'

type Action = (request: QueryRequest, account: Ec2Account) => { [name: string]: Xml }

const actions: Record<string, { run: Action; mutates: boolean }> = {
  RunInstances: { run: runInstances, mutates: true },
  DescribeInstances: { run: describeInstances, mutates: false },
  DescribeInstanceStatus: { run: describeInstanceStatus, mutates: false },
  TerminateInstances: { run: terminateInstances, mutates: true },
}

type Outcome = { status: number; document: string } | 'lost' | 'unanswered'

const largestBody = 1024 * 1024

/** The EC2 Query protocol, version 2016-11-15: a form comes in, XML goes out. */
export class Protocol {
  readonly #account: Omit<Ec2Account, 'region'>
  readonly #faults: Faults
  readonly #save: () => void
  readonly #followClock: () => Promise<void>
  readonly #calls = new Calls()

  constructor(parts: {
    instances: Instances
    faults: Faults
    now: () => number
    /** Writes everything down; called before the answer leaves. */
    save: () => void
    /** Opens and closes the instances' pages; an answer waits for it, so that what it calls running can be reached. */
    followClock: () => Promise<void>
  }) {
    this.#account = { instances: parts.instances, now: parts.now }
    this.#faults = parts.faults
    this.#save = parts.save
    this.#followClock = parts.followClock
  }

  calls(): Ec2Call[] {
    return this.#calls.latest()
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID()
    const outcome = await this.#outcome(request, requestId)
    if (outcome === 'unanswered') return
    if (outcome === 'lost') {
      response.destroy()
      return
    }
    const headers = {
      'content-type': 'text/xml;charset=UTF-8',
      'x-amzn-requestid': requestId,
      'cache-control': 'no-store',
    }
    response.writeHead(outcome.status, headers).end(outcome.document)
  }

  async #outcome(request: IncomingMessage, requestId: string): Promise<Outcome> {
    try {
      const query = await readQuery(request)
      const region = signedRegion(request.headers.authorization)
      const outcome = this.#call(query, region, requestId)
      await this.#followClock()
      return outcome
    } catch (error) {
      const { code, message } = error instanceof Ec2Error ? error : new Ec2Error('InternalError', String(error))
      return { status: httpStatus(code), document: errorDocument(requestId, code, message) }
    }
  }

  /** From the fault to the writing down in one go: no other call comes between. */
  #call(query: QueryRequest, region: string, requestId: string): Outcome {
    const name = query.text('Action') ?? ''
    const clientToken = query.text('ClientToken')
    const instanceIds = query.list('InstanceId')
    const at = this.#account.now()
    this.#calls.add({
      action: name,
      ...(clientToken && { clientToken }),
      ...(instanceIds.length && { instanceIds }),
      at,
    })
    const action = actionNamed(name, query.text('Version'))

    const account = { ...this.#account, region }
    const launches = name === 'RunInstances' && !repeatsLaunch(query, account)
    const fault = this.#faults.take({ action: name, instanceIds, launches })
    try {
      if (fault === 'timeout') return 'unanswered'
      if (fault !== undefined && fault !== 'lost_response') throw injectedError(fault)
      if (query.flag('DryRun')) {
        throw new Ec2Error('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.')
      }
      const document = answerDocument(name, requestId, action.run(query, account))
      return fault === 'lost_response' ? 'lost' : { status: 200, document }
    } catch (error) {
      if (fault === 'lost_response') return 'lost'
      throw error
    } finally {
      if (action.mutates || fault !== undefined) this.#save()
    }
  }
}

function actionNamed(name: string, version: string | undefined): { run: Action; mutates: boolean } {
  if (name === '') throw new Ec2Error('MissingAction', 'The request is missing an Action parameter.')
  if (version !== undefined && version !== '2016-11-15') {
    throw new Ec2Error('NoSuchVersion', `The requested version (${version}) of service AmazonEC2 does not exist`)
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) throw new Ec2Error('InvalidAction', `The action ${name} is not valid for this web service.`)
  return action
}

async function readQuery(request: IncomingMessage): Promise<QueryRequest> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > largestBody) throw new Ec2Error('RequestEntityTooLarge', 'The request is larger than 1 MiB.')
    chunks.push(chunk)
  }
  return QueryRequest.parse(Buffer.concat(chunks).toString('utf8'))
}

/** Any signature will do, but there must be one: the region is part of it. */
function signedRegion(authorization: string | undefined): string {
  const credential = /^AWS4-HMAC-SHA256 Credential=[^/,\s]+\/\d{8}\/([a-z0-9-]+)\/ec2\/aws4_request,/.exec(
    authorization ?? '',
  )
  if (!credential?.[1]) {
    throw new Ec2Error('AuthFailure', 'AWS was not able to validate the provided access credentials')
  }
  return credential[1]
}
