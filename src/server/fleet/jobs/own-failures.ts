import type { RunRow } from '../../../../db/schema/fleet.ts'
import { deathText, exitText } from '../../../domain/run-death.ts'
import type { Failure } from '../../../domain/run-end.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import { hasOwnImage } from './images.ts'

/** `parameters`: whether it has any. */
export type FailedRun = Pick<
  RunRow,
  'id' | 'userId' | 'instanceId' | 'environment' | 'image' | 'filesPhase' | 'diedOf' | 'exitCode'
> & { parameters: unknown }

/** Why a run never starts if its program or machine gave up before it answered. */
export function ownFailure(ctx: Context, run: FailedRun): Promise<Failure> {
  return run.filesPhase === 'failed' ? filesFailure(ctx, run) : programFailure(ctx, run)
}

/** A machine that can't load its user's files says so and shuts itself down: infra/image/files.sh. */
async function filesFailure(ctx: Context, run: FailedRun): Promise<Failure> {
  await alertOperator(ctx, {
    matter: 'files_failed',
    subject: "A server couldn't load its user's files",
    sentences: [
      'Its machine got no credentials, or could not mount the bucket, within 90 seconds. We ended the run and billed nothing.',
      `The machine's reason is in EC2's system log for about an hour: aws ec2 get-console-output --latest --instance-id ${run.instanceId}`,
      'npm run doctor checks the bucket.',
    ],
    fields: { instanceId: run.instanceId },
  })
  return {
    code: 'files_failed',
    message: "Your server couldn't load your files, so we stopped it. Your files are safe. Please try again.",
  }
}

/**
 * Why a run never starts if its program died, or if its machine shut itself down without a word before it answered,
 * which it does when it can't pull its image. Alerts the operator, unless the image is its user's own, or its program
 * may have exited because of its parameters.
 */
export async function programFailure(ctx: Context, run: FailedRun): Promise<Failure> {
  // Registries don't distinguish a missing image from one that isn't public.
  const code = run.diedOf ?? 'image_not_found'
  if (await hasOwnImage(ctx, run)) return { code, message: deathText(code, run.image, run.exitCode) }
  const image = run.image ?? 'the default image'
  const isPull = code.startsWith('image_')
  const what = run.environment === null ? 'Your server' : run.environment
  if (run.parameters && !isPull)
    return {
      code,
      message: `${what} didn't start, because its program ended. Check its parameters, or start without them.`,
    }
  const how = run.exitCode === null ? code : `${code}, ${exitText(run.exitCode)}`
  await alertOperator(ctx, {
    matter: `image_failed:${image}`,
    subject: `${run.environment ?? 'A server'} can't start: ${isPull ? `no ${image}` : `${image} ended`}`,
    sentences: [
      `Its machine ended before its simulator answered (${how}). The image is ${image}, the environment ${run.environment ?? '(none)'}. We ended the run and billed nothing.`,
      `The machine's reason is in the log of the run ${run.id}, and in EC2's system log for about an hour: aws ec2 get-console-output --latest --instance-id ${run.instanceId}`,
      'Check that the image exists, is public, and starts, or give the environment another one. Then start a server yourself.',
    ],
    fields: { instanceId: run.instanceId, image },
  })
  const why = isPull ? "its image couldn't be loaded" : 'its program ended'
  return {
    code,
    message: `${what} didn't start, because ${why}. We've been notified. Please try again later${run.environment === null ? '' : ', or choose another environment'}.`,
  }
}
