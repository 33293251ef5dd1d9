import { ACCOUNT_ID } from './identity.ts'
import {
  type Instance,
  type InstanceState,
  privateIp,
  publicIp,
  stateCodes,
  stateOf,
  toldEnd,
  toldTime,
} from './instance.ts'
import type { Xml } from './xml.ts'

const reasons: Record<string, string> = {
  'Client.UserInitiatedShutdown': 'User initiated shutdown',
  'Client.InstanceInitiatedShutdown': 'Instance initiated shutdown',
  'Client.VolumeLimitExceeded': 'Volume limit exceeded',
  'Server.InsufficientInstanceCapacity': 'Insufficient capacity to satisfy instance request',
  'Server.InternalError': 'Internal error',
}

export const stateAnswer = (state: InstanceState) => ({ code: stateCodes[state], name: state })

/** EC2 writes times as ISO 8601 in UTC. */
const isoTime = (ms: number): string => new Date(ms).toISOString()

function dnsName(prefix: string, ip: string | null, domain: string): string {
  return ip === null ? '' : `${prefix}-${ip.replaceAll('.', '-')}.${domain}`
}

/** Names include the region, except in us-east-1. */
function domains(availabilityZone: string): { inside: string; outside: string } {
  const region = availabilityZone.slice(0, -1)
  if (region === 'us-east-1') return { inside: 'ec2.internal', outside: 'compute-1.amazonaws.com' }
  return { inside: `${region}.compute.internal`, outside: `${region}.compute.amazonaws.com` }
}

function stateReason({ stateReason: code }: Instance, state: InstanceState): Xml {
  if (state === 'pending') return { code: 'pending', message: 'pending' }
  return code === null || state === 'running' ? undefined : { code, message: `${code}: ${reasons[code] ?? ''}` }
}

function transitionReason(instance: Instance): string {
  const end = toldEnd(instance)
  return end === null ? '' : `User initiated (${isoTime(end).slice(0, 19).replace('T', ' ')} GMT)`
}

function describeInstance(instance: Instance, now: number): Xml {
  const state = stateOf(instance, now)
  const ip = { private: privateIp(instance, now), public: publicIp(instance, now) }
  const { inside, outside } = domains(instance.availabilityZone)
  return {
    instanceId: instance.id,
    imageId: instance.imageId,
    instanceState: stateAnswer(state),
    privateDnsName: dnsName('ip', ip.private, inside),
    dnsName: dnsName('ec2', ip.public, outside),
    reason: transitionReason(instance),
    amiLaunchIndex: instance.launchIndex,
    instanceType: instance.instanceType,
    launchTime: isoTime(toldTime(instance.launchedAt, instance)),
    placement: { availabilityZone: instance.availabilityZone, groupName: '', tenancy: 'default' },
    monitoring: { state: 'disabled' },
    privateIpAddress: ip.private,
    ipAddress: ip.public,
    stateReason: stateReason(instance, state),
    architecture: 'x86_64',
    rootDeviceType: 'ebs',
    rootDeviceName: '/dev/sda1',
    virtualizationType: 'hvm',
    hypervisor: 'xen',
    clientToken: instance.clientToken,
    tagSet: Object.entries(instance.tags).map(([key, value]) => ({ key, value })),
  }
}

/** The instances of one launch. */
export function describeReservation(instances: Instance[], now: number): { [name: string]: Xml } {
  return {
    reservationId: instances[0]?.reservationId,
    ownerId: ACCOUNT_ID,
    groupSet: [],
    instancesSet: instances.map((instance) => describeInstance(instance, now)),
  }
}
