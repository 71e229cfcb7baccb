// A process whose memory runs out at a chosen request: the n-th operator new or mmap after arm(n) fails, in whichever thread it comes.
#pragma once

namespace votive::environment {

/// The n-th request from now on fails, and only that one.
void arm(long n);
/// No request fails any more; whether the chosen one came.
bool disarm();
/// Every pthread_create fails from now on.
void refuse_threads(bool refuse);

}  // namespace votive::environment
