import { startEc2 } from '../../dev/ec2/stand-in.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { cloudSuite } from './ec2-cloud.ts'
import { ec2ProtocolSuite } from './ec2-protocol.ts'

async function start() {
  const dataDir = temporaryFolder('ec2-contract')
  // These tests don't open the pages, so any port works.
  const { endpoint, close } = await startEc2({ dataDir, bootMs: 50, shutdownMs: 50, webPort: 0 })
  const launchTemplate = 'simulator'
  const launch = { LaunchTemplate: { LaunchTemplateName: launchTemplate, Version: '1' } }
  return { endpoint, launchTemplate, launch, stop: close }
}

ec2ProtocolSuite('EC2 protocol: the stand-in', { start })
cloudSuite('the stand-in', start, { idempotentTokens: true })
