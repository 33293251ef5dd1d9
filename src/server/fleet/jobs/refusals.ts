import type { PlaceRow } from '../../../../db/schema/fleet.ts'
import { AppError } from '../../../domain/error.ts'
import { alertOperator } from '../../mail/alerts.ts'
import type { LaunchRefusal } from '../../ports/cloud.ts'
import type { Context } from '../../runtime/context.ts'
import type { StepInput } from './step.ts'

type Place = Pick<PlaceRow, 'id' | 'instanceType' | 'availabilityZone'>

/** Alerts the operator to a refused launch, at most once an hour per code. */
export async function alertLaunchRefused({ ctx }: Pick<StepInput, 'ctx'>, place: Place, refusal: LaunchRefusal) {
  const { instanceType, availabilityZone } = place
  const { refused, code, error } = refusal
  const words =
    refused === 'place'
      ? {
          subject: `EC2 won't launch ${instanceType} in ${availabilityZone}: ${code}`,
          sentences: [
            `EC2 refused to launch a ${instanceType} in ${availabilityZone} (${code}). We set this place aside for 10 minutes and try the others.`,
            'A lack of capacity resolves itself. If the zone or its subnet is at fault, fix it or retire the place.',
          ],
        }
      : {
          subject: `EC2 refuses to launch servers: ${code}`,
          sentences: [
            `EC2 refused to launch a ${instanceType} (${code}). This affects the whole account, so customers can't start servers now.`,
            'Check the quotas, the permissions of the access key, the launch template and the state of the AWS account.',
          ],
        }
  const fields = { placeId: place.id, instanceType, availabilityZone }
  await alertOperator(ctx, { matter: `launch_refused:${code}`, ...words, fields }, error)
}

/** Alerts the operator when EC2 refuses another call of a job: we retry, but only they can fix the cause. */
export async function alertIfRefused(ctx: Context, error: unknown): Promise<void> {
  if (!(error instanceof AppError && error.code === 'provider_failed')) return
  const code = error.cause instanceof Error ? error.cause.name : 'unknown'
  const alert = {
    matter: `ec2_refused:${code}`,
    subject: `EC2 refuses our calls: ${code}`,
    sentences: [
      `EC2 refused to describe, tag, or terminate a server (${code}). We keep trying. Until it works, the server may keep running, and starts can't use warm machines.`,
      'Check the permissions of the access key and the state of the AWS account.',
    ],
  }
  await alertOperator(ctx, alert, error)
}
