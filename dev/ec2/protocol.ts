import { randomUUID } from 'node:crypto'
import type { Calls } from '../stand-in/calls.ts'
import type { Faults } from '../stand-in/faults.ts'
import type { Asked, Outcome } from '../stand-in/server.ts'
import type { Ec2Account } from './account.ts'
import { createTags, describeLaunchTemplateVersions } from './create-tags.ts'
import { describeInstanceStatus } from './describe-instance-status.ts'
import { describeInstances } from './describe-instances.ts'
import { Ec2Error, httpStatus, injectedError } from './ec2-error.ts'
import { canHit, type Ec2Fault, isDeath } from './faults.ts'
import type { Instances } from './instances.ts'
import { QueryRequest } from './query-request.ts'
import { repeatsLaunch, runInstances } from './run-instances.ts'
import { terminateInstances } from './terminate-instances.ts'
import { answerDocument, errorDocument, type Xml } from './xml.ts'

/** An incoming call, successful or not. `at` is in ms of the stack's clock. */
export type Ec2Call = { action: string; clientToken?: string; instanceIds?: string[]; at: number }

type Action = (request: QueryRequest, account: Ec2Account) => { [name: string]: Xml }

const actions: Record<string, Action> = {
  RunInstances: runInstances,
  DescribeInstances: describeInstances,
  DescribeInstanceStatus: describeInstanceStatus,
  TerminateInstances: terminateInstances,
  CreateTags: createTags,
  DescribeLaunchTemplateVersions: describeLaunchTemplateVersions,
}

/** The EC2 Query protocol, version 2016-11-15: form in, XML out. */
export class Protocol {
  readonly #account: Omit<Ec2Account, 'region'>
  readonly #faults: Faults<Ec2Fault>
  readonly #calls: Calls<Ec2Call>

  constructor(parts: { instances: Instances; faults: Faults<Ec2Fault>; calls: Calls<Ec2Call>; now: () => number }) {
    this.#account = { instances: parts.instances, now: parts.now }
    this.#faults = parts.faults
    this.#calls = parts.calls
  }

  /** Never awaits, so calls can't interleave. */
  answer({ headers, body }: Asked): Outcome {
    const requestId = randomUUID()
    const xml = {
      'content-type': 'text/xml;charset=UTF-8',
      'x-amzn-requestid': requestId,
      'cache-control': 'no-store',
    }
    try {
      const answered = this.#call(QueryRequest.parse(body), signedRegion(headers.authorization), requestId)
      return typeof answered === 'string' ? answered : { status: 200, headers: xml, body: answered.document }
    } catch (error) {
      const { code, message } = error instanceof Ec2Error ? error : new Ec2Error('InternalError', String(error))
      return { status: httpStatus(code), headers: xml, body: errorDocument(requestId, code, message) }
    }
  }

  #call(query: QueryRequest, region: string, requestId: string): { document: string } | 'lost' | 'unanswered' {
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
    const fault = this.#faults.take((kept) => canHit(kept, { action: name, instanceIds, launches }))?.fault
    const dies = fault !== undefined && isDeath(fault) ? fault : undefined
    try {
      if (fault === 'timeout') return 'unanswered'
      if (fault !== undefined && fault !== 'lost_response' && !dies) throw injectedError(fault)
      if (query.flag('DryRun')) {
        throw new Ec2Error('DryRunOperation', 'Request would have succeeded, but DryRun flag is set.')
      }
      const document = answerDocument(name, requestId, action(query, { ...account, dies }))
      return fault === 'lost_response' ? 'lost' : { document }
    } catch (error) {
      if (fault === 'lost_response') return 'lost'
      throw error
    }
  }
}

function actionNamed(name: string, version: string | undefined): Action {
  if (name === '') throw new Ec2Error('MissingAction', 'The request is missing an Action parameter.')
  if (version !== undefined && version !== '2016-11-15') {
    throw new Ec2Error('NoSuchVersion', `The requested version (${version}) of service AmazonEC2 does not exist`)
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) throw new Ec2Error('InvalidAction', `The action ${name} is not valid for this web service.`)
  return action
}

/** Accepts any signature, but requires one because it carries the region. */
function signedRegion(authorization: string | undefined): string {
  const credential = /^AWS4-HMAC-SHA256 Credential=[^/,\s]+\/\d{8}\/([a-z0-9-]+)\/ec2\/aws4_request,/.exec(
    authorization ?? '',
  )
  if (!credential?.[1]) {
    throw new Ec2Error('AuthFailure', 'AWS was not able to validate the provided access credentials')
  }
  return credential[1]
}
