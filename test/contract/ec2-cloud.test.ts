import { startEc2 } from '../../dev/ec2/stand-in.ts'
import { temporaryFolder } from '../../testing/stack/at-end.ts'
import { cloudSuite } from './ec2-cloud.ts'

cloudSuite(
  'the stand-in',
  async () => {
    const dataDir = temporaryFolder('ec2-cloud')
    const ec2 = await startEc2({ dataDir, bootMs: 50, shutdownMs: 50, webPort: 0 })
    const stop = async () => {
      await ec2.close()
    }
    return { endpoint: ec2.endpoint, launchTemplate: 'proving-ground', stop }
  },
  { idempotentTokens: true },
)
