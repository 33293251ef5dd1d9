import type { Instance } from '../../domain/wire.ts'
import type { Context } from '../context.ts'
import { toIso } from '../wire.ts'

/** Every cloud instance of ours, newest first: the admin's console. */
export async function listInstances(ctx: Context): Promise<Instance[]> {
  const instances = await ctx.cloud.listInstances()
  return instances
    .sort((a, b) => (b.launchTime ?? 0) - (a.launchTime ?? 0))
    .map((instance) => ({
      instance_id: instance.id,
      name: instance.name,
      instance_type: instance.type,
      state: instance.state,
      status_check: instance.statusCheck,
      private_ip: instance.privateIp,
      public_ip: instance.publicIp,
      launch_time: toIso(instance.launchTime),
    }))
}
