import type { RunRow } from '../../../../db/schema.ts'
import type { Failure } from '../../../domain/run-end.ts'
import type { Context } from '../../context.ts'
import { alertOperator } from '../../mail/alerts.ts'
import { imageFailure } from './images.ts'

/** Why a run never starts whose machine shut itself down before it answered. */
export function ownFailure(ctx: Context, run: RunRow): Promise<Failure> {
  return run.filesPhase === 'failed' ? filesFailure(ctx, run) : imageFailure(ctx, run)
}

/** A machine says that it can't load its user's files, and then shuts itself down: infra/image/files.sh. */
export async function filesFailure(ctx: Context, run: RunRow): Promise<Failure> {
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
