import type { Server } from '../src/domain/wire.ts'

/** A server that was just requested, to build others from in tests, benchmarks, and the component page. */
export const SAMPLE_SERVER: Server = {
  id: 'ses_x',
  server_id: 'srv_x',
  active: false,
  pending: true,
  stopping: false,
  requested_at: '2020-01-01T00:00:00Z',
  end_time: null,
  startedAt: null,
  billed_from: null,
  ip_address: null,
  door_url: null,
  instance_type: 'g6.4xlarge',
  availability_zone: 'us-east-1a',
  files_read_only: null,
  disk_nearly_full: false,
  environment: 'Blocks',
  vehicle: 'uav',
  parameters: {},
  cost_dollars: null,
  name: null,
  ends_at: null,
  ended_because: null,
  error_code: null,
  error_message: null,
}
