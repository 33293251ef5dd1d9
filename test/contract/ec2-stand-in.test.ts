import { startEc2 } from '../../dev/ec2/stand-in.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { ec2ProtocolSuite } from './ec2-protocol.ts'

ec2ProtocolSuite('EC2 protocol: the stand-in', {
  async start() {
    const dataDir = temporaryFolder('ec2-contract')
    // The protocol doesn't cover the pages, so any port works.
    const ec2 = await startEc2({ dataDir, bootMs: 50, shutdownMs: 50, webPort: 0 })
    return {
      endpoint: ec2.endpoint,
      launch: { LaunchTemplate: { LaunchTemplateName: 'simulator', Version: '1' } },
      async stop() {
        await ec2.close()
      },
    }
  },
})
