//! Calls each address as reqwest-retry does, and says when a call has ended.

use reqwest_middleware::ClientBuilder;
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let base = arguments.next().expect("the server's address");
    let calls: Vec<_> = arguments.map(|case| tokio::spawn(call(base.clone(), case))).collect();
    for call in calls {
        call.await.expect("a call");
    }
}

async fn call(base: String, case: String) {
    let policy = ExponentialBackoff::builder().build_with_max_retries(3);
    let retry = RetryTransientMiddleware::new_with_policy(policy);
    let client = ClientBuilder::new(reqwest::Client::new()).with(retry).build();
    let _ = client.get(format!("{base}/reqwest-retry/{case}")).send().await;
    println!("{case}");
}
